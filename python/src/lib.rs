//! The engine behind the Python package: data in, models out, and nothing of scikit-learn's interface, which is written in Python.
//!
//! ```text
//! numpy, scipy --Data--> Dataset --fit--> Model --values, codes, probabilities--> numpy
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `borrowed.rs` | numpy's memory as ours, without a copy: the only unsafe code here |
//! | `data.rs` | `Data`: a matrix of finite numbers |
//! | `door.rs` | the one way out of the interpreter and back: its lock released, Ctrl-C heard, panics caught |
//! | `control.rs` | time limits, interrupts, history and checkpoints while a solver runs |
//! | `params.rs` | a dictionary to checked parameters |
//! | `fit.rs` | `fit`, `calibrate` and `steps` |
//! | `model.rs` | `Model`: predictions, certificate, vectors, files |
//! | `tuning.rs` | `Search` and `Tuned`: parameters by cross validation |
//! | `review.rs` | how well a model does, why, which rows are odd, and what may be wrong |
//! | `shards.rs` | `Shard`, `Leader`: training on rows that lie on many machines |
//! | `stream.rs` | `Stream`: learning from rows as they come |
//! | `lift.rs` | `Lift`: explicit feature maps; and blocks of kernel values |
//! | `errors.rs` | our errors as Python's |

mod borrowed;
mod control;
mod data;
mod door;
mod errors;
mod fit;
mod lift;
mod model;
mod params;
mod review;
mod shards;
mod stream;
mod tuning;

use pyo3::prelude::*;

/// What a fit touches once and then gives back would cost much in small pages. numpy's arrays are not made by it.
#[global_allocator]
static ALLOCATOR: maxmargin_pages::LargePages = maxmargin_pages::LargePages;

/// The module `maxmargin._engine`.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::data::Data;
    #[pymodule_export]
    use super::errors::{InputError, InternalError};
    #[pymodule_export]
    use super::fit::{calibrate, fit, steps};
    #[pymodule_export]
    use super::lift::{Lift, kernel_block, project};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::review::{diagnose, explain, report, suspects};
    #[pymodule_export]
    use super::shards::{Leader, Part, Shard, Team, check_moments, fold_moments, sorted_labels, supports_shards};
    #[pymodule_export]
    use super::stream::Stream;
    #[pymodule_export]
    use super::tuning::{Search, Tuned, read_grid};

    use super::*;

    /// The version of the engine.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Panics, so that tests can see what becomes of it.
    #[pyfunction]
    fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
        super::door::run(py, super::door::Watch::default(), |_| -> Result<(), super::errors::Fault> {
            panic!("a test asked for it")
        })
        .map(drop)
    }
}
