//! What an outsider asks of a model: is what it claims true, why does it say what it says, and which rows did it give up on?
//!
//! ```text
//! Model + training data --verify--> Verification       every certificate anew, from the model's coefficients alone
//! Model + a row --explain--> Explanation               the terms that decided, and how far the boundary is
//! Model + rows --suspects--> Suspects                  rows far on the wrong side of their margin
//! ```

mod explain;
mod suspects;
mod verify;
mod verify_joint;
mod verify_landmarks;

pub use explain::{Detail, Explanation, Lead, Reason, Term, TermSource};
pub use suspects::{Suspect, Suspects};
pub use verify::{Disagreement, Verification};
