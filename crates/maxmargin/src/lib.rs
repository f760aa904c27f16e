//! Support vector machines and kernel classifiers: exact, certified, fast.
//!
//! Data flows through these boxes, each a plain struct that is valid once it exists:
//!
//! ```text
//! Dataset --check--> Training --fit(control)--> Model --predict--> Predictions
//!                       |
//!                       +-- for each pair of classes: MarginProblem --solve--> Solution --certify--> Machine
//!                       +-- or for all of them at once: JointProblem --solve--> JointSolution --certify--> machines
//! ```
//!
//! 1. [`data`]: rows, labels, weights; embedded sets, generators, scaling, splitting.
//! 2. [`kernel`] and [`lift`]: kernels a block at a time, and explicit feature maps.
//! 3. [`problem`]: what is minimised, primal and dual.
//! 4. [`solver`]: algorithms by name, each watched and stopped through a [`Control`].
//! 5. [`certificate`]: primal, dual, gap, violation: how good the answer is, for anybody to check.
//! 6. [`recipe`]: what is to be solved, and the problems that this makes of rows; [`training`]: the loop over these that makes a [`Model`];
//!    [`model`]: prediction; [`review`]: what a model claims, and why it says what it says.
//!    [`calibration`]: probabilities for models that have none of their own.
//! 7. [`stream`]: learning from rows as they come, never in memory as a whole; [`out_of_core`]: exact training of such data, block by
//!    block.
//! 8. [`geometry`], [`metrics`], [`worked`]: planes, hulls and conics; counting errors; the examples of the textbooks.
//! 9. [`diagnosis`]: what may be wrong with data, a kernel or a fit; [`review`] says why of single rows.
//! 10. [`view`]: what programs are told of all this, ready to be serialized.
//!
//! The library does arithmetic only: it opens no files, prints nothing, looks at no clock and keeps no globals.
//!
//! # Examples
//! ```
//! use maxmargin::data::embedded;
//! use maxmargin::kernel::{Gamma, KernelParams};
//! use maxmargin::{TrainingParams, Unattended, Workers};
//!
//! let iris = embedded("iris").unwrap();
//! let kernel = KernelParams::Rbf { gamma: Gamma::Scale };
//! let training = TrainingParams { kernel, ..TrainingParams::default() }.check()?;
//! let model = training.fit(&iris, &Workers::none(), &mut Unattended)?;
//!
//! let certificate = model.machines()[0].evidence.certificate().unwrap();
//! assert!(certificate.relative_gap < 1e-3);
//!
//! let predictions = model.predict(&iris, &Workers::none())?;
//! assert_eq!(model.label(predictions.codes()[0]).text(), "setosa");
//! # Ok::<(), maxmargin::Error>(())
//! ```
#![warn(missing_docs)]

pub mod calibration;
pub mod certificate;
pub mod checkpoint;
mod class_products;
pub mod control;
pub mod data;
pub mod diagnosis;
mod double_double;
pub mod error;
pub mod geometry;
pub mod kernel;
pub mod lift;
pub mod metrics;
pub mod model;
mod network;
pub mod out_of_core;
pub mod problem;
pub mod provenance;
pub mod recipe;
mod relay;
pub mod review;
mod room;
mod simd;
pub mod solver;
pub mod stream;
pub mod training;
pub mod view;
pub mod worked;
pub mod workers;

pub use checkpoint::{Checkpoint, CheckpointControl};
pub use control::{Control, Progress, Stop, Unattended, Work};
pub use data::Dataset;
pub use error::Error;
pub use model::Model;
pub use training::{Beginning, Training, TrainingParams};
pub use workers::Workers;
