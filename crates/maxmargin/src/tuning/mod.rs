//! Model selection: a whole grid of parameters, the same splits for each cell, and what the choice is worth.
//!
//! ```text
//! Dataset --> Splits;   Grid --settings--> cells;   cells x splits --fit--> FoldResult --judge--> Tuned
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `grid.rs` | values of parameters, their spacing, ranges that the data suggests |
//! | `splits.rs` | which rows are trained on, and which are held out |
//! | `scores.rs` | scores of held-out rows |
//! | `search.rs` | parameters checked, the rounds of a search |
//! | `plain.rs` | ordinary fits, one for each cell and split: all that [`Training`](crate::Training) can do |
//! | `on_tables.rs` | kernel machines of two classes or pairs of them, on kernel values that are computed once |
//! | `tasks.rs` | tasks side by side |
//! | `race.rs` | which cells can still win, or be chosen |
//! | `extend.rs` | ranges that go on where the best cell lies on their border |
//! | `screen.rs` | a sample of the rows, searched first |
//! | `judge.rs` | means, standard errors, differences to the best, the choices |
//! | `honest.rs` | what the chosen model is worth on new rows |
//! | `learning.rs` | what more rows would bring |
//! | `nested.rs` | what a search is worth, by searching anew without the rows that judge it |
//! | `prove.rs` | which held-out labels are those of the exact optimum |
//! | `tuned.rs` | the result |
//!
//! Folds themselves are drawn by [`Folds`](crate::data::Folds), for every cross validation of the library and the program.

mod extend;
mod grid;
mod honest;
mod judge;
mod learning;
mod nested;
mod on_tables;
mod plain;
mod prove;
mod race;
mod scores;
mod screen;
mod search;
mod splits;
mod tasks;
mod tuned;

pub use extend::Extension;
pub use grid::{Axis, Grid, GridPart, Knob, MOST_CELLS, Setting, kernel_name};
pub use honest::Honest;
pub use learning::{LearningCurve, LearningPoint, Spread};
pub use nested::{Nested, NestedPart, NestedSplit, nested};
pub use prove::Proof;
pub use scores::{HeldOut, Metric, OwnScore};
pub use search::{Results, Search, SearchParams, Strategy};
pub use splits::{Split, Splits};
pub use tuned::{Cell, Choose, Counts, FoldResult, State, Tuned, Warning};

#[cfg(test)]
mod tests;
