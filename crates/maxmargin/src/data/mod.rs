//! Data in memory: [`Matrix`] (rows and columns of numbers), [`Answers`] for the rows, and the [`Dataset`] that joins them.
//!
//! Everything is valid by construction: private fields, one constructor that checks, and values that are
//! finite from then on.

mod answers;
mod buffer;
mod dataset;
pub mod embedded;
pub(crate) mod fingerprint;
mod folds;
pub mod generate;
mod generate_text;
mod label;
mod matrix;
mod reading;
mod scaling;
mod split;
pub(crate) mod stored;

pub use answers::{AnswerKind, Answers};
pub use buffer::Buffer;
pub use dataset::Dataset;
pub use embedded::embedded;
pub use folds::Folds;
pub use generate::generate;
pub use generate_text::TextRows;
pub use label::{Label, Labels};
pub use matrix::{Csr, Dense, Matrix, Values};
pub use reading::{ColumnRecipe, Missing, RawColumn, Reading, TableRecipe};
pub use scaling::{Scaling, ScalingKind, range_ratio};
pub use split::{plain_split, stratified_split};
