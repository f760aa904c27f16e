//! What programs are told: plain structs that serialize to the JSON of the command line, of Python and of a server.
//!
//! A view holds data alone, no layout: names of classes in full, numbers as they are. Its keys are a promise: they are added to, and never
//! renamed. A number that JSON has no word for (infinite, not a number) becomes `null`.

mod diagnosis;
mod explanation;
mod machine;
mod model;
mod predictions;
mod score;
mod stream;
mod suspects;
mod training;
mod tuned;
mod verification;

pub use diagnosis::{DiagnosisView, FindingView};
pub use explanation::{ExplainedRow, ExplanationView, LeadView, ReasonView, TermView, VoteView};
pub use machine::{
    EvidenceView, LandmarksView, MachineView, MachinesView, NetworkView, ObjectiveView, PenaltyView, SolvedView,
    SupportView, machine_name, penalty_of_model,
};
pub use model::{
    CanonicalView, ConicView, GeometryView, HullsView, HyperplaneView, ModelView, RiskView, ScalingView, SolidMachine,
};
pub use predictions::PredictionsView;
pub use score::{BaselineView, ClassScoreView, ScoreView, separation};
pub use stream::{EstimateView, StreamView};
pub use suspects::{SuspectView, SuspectsView};
pub use training::{InterruptedView, OutOfCoreView, Seconds, TrainingFacts, TrainingView};
pub use tuned::{CellView, HonestView, TunedView, WarningView};
pub use verification::{ComparedView, VerificationView};
