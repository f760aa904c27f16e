//! What stands in the place of the interior-point method in a build without the feature `interior-point`.

use super::{Settings, Solution};
use crate::control::Control;
use crate::problem::MarginProblem;

pub(super) fn bytes(_: &MarginProblem<'_>, _: &Settings) -> u64 {
    0
}

pub(super) fn solve(_: &MarginProblem<'_>, _: &Settings, _: &mut dyn Control) -> Solution {
    unreachable!("`supports` lets no problem pass")
}
