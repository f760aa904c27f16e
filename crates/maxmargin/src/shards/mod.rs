//! Exact linear training on rows that lie in many places: a leader asks, shards of rows answer, and their sums are folded.
//!
//! # Problem
//! (LP.1), one machine or one for each class against the rest: hinge, squared and logistic loss, both losses of a tube, any bias, weights of rows
//! and classes. The optimum is that of the training in memory.
//!
//! ```text
//! Leader --Request--> Shard --Answer--> check (SH.1) to (SH.4) --> fold (SH.6) --> Leader
//! ```
//!
//! # Step
//! Newton's method of `solver::primal_newton`, of which all that needs rows is asked of the shards: the sums at a point, slopes along a
//! direction, products with the Hessian, or the Hessian itself where there are few columns. Several machines are asked in one round.
//!
//! # Where the bits come from
//! The rows of each shard, and the order of the shards' numbers. A shard's answer depends on its rows and the request in full alone: what it
//! remembers between two requests could be computed again from them. So workers may be lost, slow, asked twice or replaced, and threads may
//! be many or few, without a change of any bit.
//!
//! Hinge loss is smoothed around the coefficients that each row had at earlier points, (PN.3). The leader's journal of these points is enough to
//! compute them again. It is also the [`Proof`]: from it and the rows, anybody computes the coefficients and with them the certificate.
//!
//! # Stopping
//! At a relative duality gap, (C.5), as `primal-newton`. With an explicit bias the coefficients are balanced first, by two factors that all
//! shards share ([`Leader`]).
//!
//! # Cost
//! A step is one round with few columns. With many, it is one for each step of the conjugate gradients. A round takes 8 bytes a column to
//! each shard and back, for each machine; with few columns also half a matrix. Memory of a shard: its rows, and seven numbers a row for each machine.
//!
//! # When to use
//! Rows that do not fit into one machine. Where they do, the training in memory is quicker.
//!
//! # References
//! Keerthi, DeCoste 2005 and Lin, Weng, Keerthi 2008 (Newton's method on the primal); Zaharia et al. 2012 (what is lost is computed again);
//! Freivalds 1977 (checking products by a vector).

mod check;
mod fold;
mod in_process;
mod leader;
mod message;
mod moments;
mod probe;
mod search;
mod shard;
mod wire;

#[cfg(test)]
mod tests;

pub use leader::{FittedShards, Heard, Leader, Proof, supports_shards};
pub use message::{Answer, Request};
pub use moments::Moments;
pub use shard::Shard;
