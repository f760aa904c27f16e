//! Ranges that grow: where the best cell lies on the border of a range that the data suggested, the range goes on beyond it.
//!
//! A larger grid is a search of its own. What is known of its cells is taken over; the new cells are chains of their own, so what they say does not
//! depend on when the search was broken off. A range ends in truth where nothing can change beyond it: at the largest C, when no coefficient of
//! the best cell is at its bound.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::grid::Knob;
use super::search::{Results, Search};
use super::tuned::{Tuned, Warning};
use crate::control::{Control, Stop};
use crate::data::Dataset;
use crate::error::Error;
use crate::workers::Workers;

/// How often a search extends its grid. More: a search whose score rises for ever, as with a γ that memorises rows, takes longer to give up.
const MOST_EXTENSIONS: usize = 3;

/// Values that a range gains at a time.
const VALUES_AT_ONCE: usize = 2;

/// The largest and the smallest value that a range may come to.
const MOST: f64 = 1e9;
const LEAST: f64 = 1e-12;

/// A range that went on beyond its end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Extension {
    /// The part of the grid.
    pub part: usize,
    /// The parameter.
    pub knob: Knob,
    /// Whether it went up.
    pub is_up: bool,
}

impl Search {
    /// Searches as [`Search::run_from`], and extends the ranges in `free`, by part and parameter, while the best cell lies on their border: three
    /// times at most. Handed back with the search of the last grid, whose [`Search::training`] has the cells of the result.
    ///
    /// # Errors
    /// As [`Search::run_from`].
    pub fn run_extending(
        &self,
        data: &Dataset,
        free: &[(usize, Knob)],
        from: Results,
        workers: &Workers,
        control: &mut dyn Control,
        keep: &mut dyn FnMut(&Results, bool),
    ) -> Result<(Search, Tuned), Error> {
        let mut search = self.clone();
        let mut extended: Vec<Vec<Extension>> = from.extended.clone();
        for steps in &extended {
            search = search.extended(steps)?;
        }
        let mut results = from;
        loop {
            let mut tuned = search.run_from(data, results, workers, control, keep)?;
            let steps = if extended.len() < MOST_EXTENSIONS { search.wanted(&tuned, free) } else { Vec::new() };
            if tuned.stop != Stop::Converged || steps.is_empty() {
                for step in extended.iter().flatten() {
                    let values = tuned.values(step.part, step.knob);
                    let end = if step.is_up { values.last() } else { values.first() };
                    let warning = end.map(|&to| Warning::Extended { knob: step.knob, to });
                    tuned.warnings.extend(warning.filter(|warning| !tuned.warnings.contains(warning)));
                }
                return Ok((search, tuned));
            }
            let larger = search.extended(&steps)?;
            extended.push(steps);
            results = larger.carried(&search, &tuned, data, &extended, workers);
            search = larger;
        }
    }

    /// The free ranges on whose border the best cell lies, and that may go on.
    fn wanted(&self, tuned: &Tuned, free: &[(usize, Knob)]) -> Vec<Extension> {
        let Some(best) = tuned.best.filter(|&best| tuned.cells[best].mean.is_some()) else { return Vec::new() };
        let part = tuned.cells[best].setting.part;
        let step = |(knob, value, is_up): (Knob, f64, bool)| {
            let is_within = if is_up { value < MOST } else { value > LEAST };
            (free.contains(&(part, knob)) && is_within).then_some(Extension { part, knob, is_up })
        };
        Search::borders(&tuned.cells, best).into_iter().filter_map(step).collect()
    }

    /// The search of a larger grid, whose new cells are chains of their own.
    fn extended(&self, steps: &[Extension]) -> Result<Search, Error> {
        let mut params = self.params.clone();
        for step in steps {
            let part = params.grid.parts.get_mut(step.part);
            let Some(axis) = part.and_then(|part| part.axes.iter_mut().find(|axis| axis.knob == step.knob)) else {
                return Err(Error::parameter(step.knob.parameter(), "not in the grid", "one of its parameters"));
            };
            axis.values.sort_by(f64::total_cmp);
            let values = &mut axis.values;
            let (Some(&first), Some(&last)) = (values.first(), values.last()) else { continue };
            let ratio = (last / first).powf(1.0 / (values.len().max(2) - 1) as f64);
            for k in 1..=VALUES_AT_ONCE {
                let factor = ratio.powi(k as i32);
                values.push(if step.is_up { last * factor } else { first / factor });
            }
        }
        let mut larger = Search { strategy: self.strategy, of_splits: self.of_splits.clone(), ..params.check()? };
        let is_old = |cell: usize| self.settings.contains(&larger.settings[cell]);
        larger.chains = larger
            .chains
            .iter()
            .flat_map(|chain| chain.chunk_by(|&one, &other| is_old(one) == is_old(other)).map(<[usize]>::to_vec))
            .collect();
        Ok(larger)
    }

    /// What is known of the cells of this search from a smaller one.
    fn carried(
        &self,
        smaller: &Search,
        tuned: &Tuned,
        data: &Dataset,
        extended: &[Vec<Extension>],
        workers: &Workers,
    ) -> Results {
        let mut results = self.untouched(data, workers);
        results.extended = extended.to_vec();
        for (setting, cell) in smaller.settings.iter().zip(&tuned.cells) {
            if let Some(place) = self.settings.iter().position(|own| own == setting) {
                results.cells[place].clone_from(&cell.folds);
            }
        }
        results
    }
}
