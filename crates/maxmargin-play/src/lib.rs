//! The playground: points in a plane, a model of them, and everything that its page draws.
//!
//! ```text
//! Request --problem--> Dataset, Training --fit(control)--> Fitted --look--> Answer --bytes--> the page
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `request.rs` | what a page may ask, with its limits |
//! | `points.rs` | the points of a request as data |
//! | `problem.rs` | a request as a training |
//! | `fit.rs` | the fit, and the steps that the solver took |
//! | `rows.rs` | α, slack and f of each point, and its kind |
//! | `grid.rs` | decision values over the plane, and the lines through them |
//! | `machine.rs` | the numbers of a model: certificate, weights, counts |
//! | `mistakes.rs` | how many mistakes a perceptron may make |
//! | `hulls.rs` | hulls, reduced hulls, and their nearest points |
//! | `conic.rs` | the curve of a quadratic kernel, and the surface above the plane |
//! | `sweep.rs` | models over a range of C |
//! | `export.rs` | a picture, a table, a model, a command line, a Python program |
//! | `table.rs` | a table of the user as columns to choose from |
//! | `packet.rs` | numbers as bytes |
//! | `routes.rs` | paths of the page's requests |
//! | `page.rs` | the files of the page |
//!
//! It opens no files and no sockets, prints nothing, and has no clock: the same request has the same answer, to the bit.
#![warn(missing_docs)]

mod answer;
mod conic;
mod error;
mod export;
mod fit;
mod grid;
mod hulls;
mod machine;
mod mistakes;
mod packet;
mod page;
mod points;
mod problem;
mod request;
mod routes;
mod rows;
mod sweep;
mod table;

pub use answer::{Answer, answer};
pub use error::Error;
pub use fit::Fitted;
pub use page::{Asset, assets};
pub use request::{
    FrameRequest, GridRequest, KernelName, KernelRequest, LossName, Method, ModelRequest, PointsRequest, Request,
    Wanted,
};
pub use routes::{Reply, Routes, Start};
