//! What to train: parameters, and the one place where their ranges are tested.

use super::{ClassWeights, Landmarks, Training};
use crate::data::{Label, ScalingKind};
use crate::error::{Error, Parameter};
use crate::kernel::KernelParams;
use crate::problem::{Bias, Loss, Norm, Penalty, Task};
use crate::recipe::Multiclass;
use crate::solver::{PenaltyKind, Settings, SolverKind};

/// What to train, not yet checked. Plain, public, `Default`.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::training::{Penalty, TrainingParams};
/// use maxmargin::{Unattended, Workers};
///
/// let data = embedded("e2").unwrap();
/// let training = TrainingParams { penalty: Penalty::C(1.0), ..TrainingParams::default() }.check()?;
/// let model = training.fit(&data, &Workers::none(), &mut Unattended)?;
/// let certificate = model.machines()[0].evidence.certificate().unwrap();
/// assert!((certificate.primal - 6.0694444).abs() < 1e-3);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrainingParams {
    /// What is to be found: classes, numbers, or what is usual.
    pub task: Task,
    /// The kernel.
    pub kernel: KernelParams,
    /// The penalty.
    pub penalty: Penalty,
    /// How the weights are measured.
    pub norm: Norm,
    /// The loss; `None` is the solver's own, else squared with the L1 norm and hinge with the L2 norm.
    pub loss: Option<Loss>,
    /// How b is treated.
    pub bias: Bias,
    /// The solver; `None` lets the problem decide.
    pub solver: Option<SolverKind>,
    /// How several classes are told apart; `None` is jointly for `lda` and `mlp`, and by pairs for all others.
    pub multiclass: Option<Multiclass>,
    /// What is done to the columns first.
    pub scaling: ScalingKind,
    /// This label against all others.
    pub positive: Option<Label>,
    /// What the rows of each class count.
    pub class_weights: ClassWeights,
    /// Landmarks in the place of the kernel's own support vectors; `None` trains exactly.
    pub landmarks: Option<Landmarks>,
    /// Settings for the solver.
    pub settings: Settings,
}

impl Default for TrainingParams {
    fn default() -> Self {
        TrainingParams {
            task: Task::default(),
            kernel: KernelParams::default(),
            penalty: Penalty::C(1.0),
            norm: Norm::default(),
            loss: None,
            bias: Bias::default(),
            solver: None,
            multiclass: None,
            scaling: ScalingKind::None,
            positive: None,
            class_weights: ClassWeights::default(),
            landmarks: None,
            settings: Settings::default(),
        }
    }
}

/// Weights of all pairs of classes together up to which linear machines are trained pair by pair where no way is named: 32 MB.
const MOST_WEIGHTS_OF_PAIRS: usize = 1 << 22;

impl TrainingParams {
    /// How several classes are told apart, the solver's own way where none was named.
    pub fn way(&self) -> Multiclass {
        let is_joint = self.solver.is_some_and(|kind| kind.facts().is_joint);
        self.multiclass.unwrap_or(if is_joint { Multiclass::Joint } else { Multiclass::default() })
    }

    /// How the classes of some data are told apart. Where no way was named and the machines of all pairs would have more than four
    /// million weights, a linear kernel has one machine a class; otherwise it is [`Self::way`].
    pub fn way_for(&self, classes: usize, columns: usize) -> Multiclass {
        let pairs = classes.saturating_mul(classes.saturating_sub(1)) / 2;
        let is_large = pairs.saturating_mul(columns) > MOST_WEIGHTS_OF_PAIRS;
        let way = self.way();
        if self.multiclass.is_none()
            && way == Multiclass::OneVsOne
            && matches!(self.kernel, KernelParams::Linear)
            && is_large
        {
            return Multiclass::OneVsRest;
        }
        way
    }

    /// The only way to a [`Training`], and so the only place where ranges are tested.
    ///
    /// # Errors
    /// When a parameter is out of range, or two do not go together.
    pub fn check(self) -> Result<Training, Error> {
        self.penalty.check()?;
        self.class_weights.check()?;
        let settings = &self.settings;
        if let Some(tolerance) = settings.tolerance
            && !(tolerance > 0.0 && tolerance.is_finite())
        {
            return Err(Error::parameter(Parameter::Tolerance, tolerance, "a finite number above 0"));
        }
        if let Some(gap) = settings.gap
            && !(gap > 0.0 && gap.is_finite())
        {
            return Err(Error::parameter(Parameter::Gap, gap, "a finite number above 0"));
        }
        if settings.max_iterations == Some(0) {
            return Err(Error::parameter(Parameter::MaxIterations, 0, "1 or more"));
        }
        if settings.batch == 0 {
            return Err(Error::parameter(Parameter::Batch, 0, "1 or more"));
        }
        settings.shrinkage.check()?;
        self.check_shape()?;
        self.check_landmarks()?;
        let loss = self.loss.unwrap_or_else(|| self.own_loss());
        self.check_norm(loss)?;
        if self.penalty == Penalty::None && loss != Loss::Logistic {
            return Err(Error::Combination {
                what: format!("{} loss without a penalty has no single best model", loss.name()),
                help: "choose lambda above 0, or the solver logistic".into(),
            });
        }
        if self.penalty == Penalty::Hard && loss != Loss::Hinge {
            return Err(Error::Combination {
                what: format!("a hard margin allows no slack, so {} loss has nothing to do", loss.name()),
                help: "leave out the loss, or choose C instead of a hard margin".into(),
            });
        }
        self.task.check(loss)?;
        if matches!(self.penalty, Penalty::Nu(_)) {
            self.check_nu(loss)?;
        }
        if !self.task.is_classification() {
            self.check_without_classes()?;
        }
        Ok(Training { params: self, loss })
    }

    /// ν in the place of C goes with what has a C to find.
    fn check_nu(&self, loss: Loss) -> Result<(), Error> {
        let refuse = |what: &str, help: &str| Err(Error::Combination { what: what.into(), help: help.into() });
        if loss != Loss::Hinge || self.bias != Bias::Explicit {
            return refuse("nu goes with hinge loss and an explicit bias", "choose these, or C in the place of nu");
        }
        let meets_nu = |kind: SolverKind| kind.facts().domains.iter().any(|d| d.penalties.contains(&PenaltyKind::Nu));
        if let Some(kind) = self.solver.filter(|kind| !meets_nu(*kind)) {
            let what = format!("the solver {} has no way to meet a nu", kind.name());
            return refuse(&what, "name smo or block-smo, or none");
        }
        if !matches!(self.way(), Multiclass::OneVsOne | Multiclass::OneVsRest) {
            return refuse("classes that are trained together have no nu", "choose multiclass ovo or ovr, or C");
        }
        Ok(())
    }

    /// What only classes have must not be asked for where there are none.
    fn check_without_classes(&self) -> Result<(), Error> {
        if self.norm == Norm::L1 {
            return Err(Error::Combination {
                what: format!("the L1 norm is for classes, not for {}", self.task.name()),
                help: "choose norm l2, or task classification".into(),
            });
        }
        let asked = [
            ("weights of classes", self.class_weights != ClassWeights::default()),
            ("a positive label", self.positive.is_some()),
            ("a way to tell several classes apart", self.multiclass.is_some()),
            ("a hard margin", self.penalty == Penalty::Hard),
            ("nu in the place of C", matches!(self.penalty, Penalty::Nu(_))),
        ];
        match asked.iter().find(|(_, asked)| *asked) {
            Some((name, _)) => Err(Error::Combination {
                what: format!("{} has no classes, and so no use for {name}", self.task.name()),
                help: "leave it out, or choose task classification".into(),
            }),
            None => Ok(()),
        }
    }
}
