//! Support vector machines and kernel classifiers: exact, certified, fast.
//!
//! ```
//! use maxmargin::{Svc, Svr};
//! # #[cfg(feature = "ndarray")]
//! # fn main() -> Result<(), maxmargin::Error> {
//! use ndarray::array;
//!
//! let x = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]; // or a slice of rows, a `Vec<Vec<f64>>`, sparse rows
//! let y = ["even", "even", "odd", "odd"]; // or integers
//!
//! let model = Svc::rbf().c(10.0).fit((&x, &y))?;
//! println!("{:?} {:e}", model.predict(&x)?, model.certificate().unwrap().relative_gap);
//! let numbers = Svr::rbf().c(10.0).fit((&x, &[0.5, 1.5, 1.5, 0.5]))?.predict(&x)?;
//!
//! assert_eq!(model.predict(&x)?, y); // labels of the type that y has
//! assert!((numbers[0] - 0.5_f64).abs() < 0.11);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "ndarray"))]
//! # fn main() {}
//! ```
//!
//! Ten things to know:
//!
//! 1. [`Svc`] tells classes apart. Its relatives: [`NuSvc`], [`LinearSvc`] for many rows or columns, [`Logistic`], [`Lda`], [`Rvm`],
//!    [`Perceptron`].
//! 2. [`Svr`] learns numbers, and so do [`NuSvr`] and [`LinearSvr`].
//! 3. [`OneClass`] and [`Svdd`] tell whether a row is like the others.
//! 4. [`Fitted`] is what `fit` hands back: `predict`, `score`, `probabilities`, `decision_values`, `verify`.
//! 5. [`CertificateSummary`] says how far a model is from the best one. Every convex machine has one.
//! 6. [`ToRows`] and [`TrainingData`] list what serves as data; [`Dataset`] adds weights and names of columns.
//! 7. [`KernelParams`] and [`Custom`]: kernels, their sums and products, and your own.
//! 8. [`Workers`], [`Control`] and [`CheckpointControl`]: threads, limits, interrupts, checkpoints. `fit` takes all cores, and nobody watches; the bits are the same for any
//!    number of threads.
//! 9. [`TrainingParams`] is the general door, which the builders only fill in: every solver, loss, penalty and bias.
//! 10. [`Error`] says what was found, where, and what is allowed; [`Error::help`] is the way out.
//!
//! Programs for each of these are in the folder `examples/`. The crate `maxmargin-io` reads files and saves models.
//!
//! | feature | on by itself | what it adds |
//! | --- | --- | --- |
//! | `threads` | yes | fits and predictions on all cores |
//! | `interior-point` | yes | the solver of that name, the independent reference |
//! | `ndarray` | no | arrays of the crate `ndarray` as rows, labels and numbers, in and out |
//! | `serde` | no | models, certificates and reports as JSON and the like |
//!
//! # How it works
//! Data flows through these boxes, each a plain struct that is valid once it exists:
//!
//! ```text
//! Dataset --check--> Training --fit(control)--> Model --predict--> Predictions
//!                       |
//!                       +-- for each pair of classes: MarginProblem --solve--> Solution --certify--> Machine
//!                       +-- or for all of them at once: JointProblem --solve--> JointSolution --certify--> machines
//! ```
//!
//! The library does arithmetic only: it opens no files, prints nothing, looks at no clock and keeps no globals.
#![warn(missing_docs)]

// What is promised: all of it is at the root, and `tests/surface.rs` counts it.
pub use certificate::{Certificate, CertificateSummary, Evidence};
pub use checkpoint::{Checkpoint, CheckpointControl};
pub use control::{Control, Progress, Step, Stop, Unattended};
pub use data::{Dataset, Label, Labels, Matrix, ScalingKind, embedded::embedded, generate::generate, stratified_split};
pub use error::Error;
pub use estimators::{
    ClassLabel, Classes, Fitted, Lda, LinearSvc, LinearSvr, Logistic, NuSvc, NuSvr, Numbers, OneClass, Perceptron, Rvm,
    Svc, Svdd, Svr, Table, ToLabels, ToNumbers, ToRows, TrainingData, Usual,
};
pub use kernel::{Custom, Gamma, KernelParams};
pub use model::{Machine, Model, Predictions};
pub use problem::{Bias, Loss, Norm, Penalty, Task};
pub use provenance::{Note, SolverKind};
pub use recipe::Multiclass;
pub use review::Verification;
pub use solver::{Settings, Shrinkage};
pub use training::{Beginning, ClassWeights, Training, TrainingParams};
pub use workers::Workers;

// What the program, the file formats, the pictures and the Python package are built of. It changes with them, and promises nothing.
#[doc(hidden)]
pub mod calibration;
#[doc(hidden)]
pub mod certificate;
#[doc(hidden)]
pub mod checkpoint;
#[doc(hidden)]
pub mod control;
#[doc(hidden)]
pub mod data;
#[doc(hidden)]
pub mod diagnosis;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod geometry;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod landmarks;
#[doc(hidden)]
pub mod lift;
#[doc(hidden)]
pub mod metrics;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod out_of_core;
#[doc(hidden)]
pub mod problem;
#[doc(hidden)]
pub mod provenance;
#[doc(hidden)]
pub mod recipe;
#[doc(hidden)]
pub mod review;
#[doc(hidden)]
pub mod shards;
#[doc(hidden)]
pub mod solver;
#[doc(hidden)]
pub mod stream;
#[doc(hidden)]
pub mod training;
#[doc(hidden)]
pub mod tuning;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod view;
#[doc(hidden)]
pub mod worked;
#[doc(hidden)]
pub mod workers;

mod class_products;
mod double_double;
mod estimators;
mod network;
mod relay;
mod room;
mod simd;

/// Compiles and runs the program of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
