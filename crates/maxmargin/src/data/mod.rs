//! Data in memory: [`Matrix`] (rows and columns of numbers), [`Label`]s, and the [`Dataset`] that joins them.
//!
//! Everything is valid by construction: private fields, one constructor that checks, and values that are
//! finite from then on.

mod buffer;
mod dataset;
mod label;
mod matrix;

pub use buffer::Buffer;
pub use dataset::Dataset;
pub use label::{Label, Labels};
pub use matrix::{Csr, Dense, Matrix, Values};
