//! The facade: one builder for each kind of machine, which fills in [`TrainingParams`](crate::TrainingParams), and typed models.
//!
//! ```text
//! Svc::rbf().c(10.0)  --fit((&x, &y))-->  Fitted<Classes<L>>  --predict(&x)-->  Vec<L>       L: the type of a label of y
//! Svr::rbf()          --fit((&x, &t))-->  Fitted<Numbers>     --predict(&x)-->  Vec<f64>
//! OneClass::rbf()     --fit(&x)------->   Fitted<Usual>       --predict(&x)-->  Vec<bool>
//! ```
//!
//! Builders check nothing: whatever is out of its range, or does not go together, `fit` says.

mod builders;
mod columns;
mod fitted;
mod labels;
mod plan;
mod rows;
mod table;

pub use builders::{Lda, LinearSvc, LinearSvr, Logistic, NuSvc, NuSvr, OneClass, Perceptron, Rvm, Svc, Svdd, Svr};
pub use columns::{ToNumbers, TrainingData};
pub use fitted::{Classes, Fitted, Numbers, Usual};
pub use labels::{ClassLabel, ToLabels};
pub use rows::ToRows;
pub use table::Table;
