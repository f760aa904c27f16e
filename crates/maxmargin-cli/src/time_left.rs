//! How long a fit may still take, from how it has gone so far.
//!
//! Within a machine, the logarithm of the violation falls, with much noise, along a line towards that of the tolerance. The
//! slope is the median of those between all pairs of observations, which a few wild ones do not turn (Theil 1950, Sen 1968).
//! Further machines are taken to last as long as those before them.

use std::time::Duration;

use maxmargin::Progress;

/// The most observations kept; then every second one is given up, and half as many are made.
const MOST: usize = 64;

/// Fewer observations than this tell nothing.
const FEWEST: usize = 8;

/// Estimates of more seconds than this (a month) tell nothing.
const LONGEST: f64 = 30.0 * 86_400.0;

/// How a fit has gone so far.
pub(crate) struct Pace {
    tolerance: f64,
    /// The machine that is observed, and since when.
    machine: Option<(usize, f64)>,
    /// How many machines were done before it in this run, and in which time.
    done: (usize, f64),
    /// Seconds and violation, in the order of time.
    observations: Vec<(f64, f64)>,
    /// Seconds between two observations, at least.
    spacing: f64,
}

impl Pace {
    /// Nothing is known yet.
    pub(crate) fn new(tolerance: f64) -> Self {
        Pace { tolerance, machine: None, done: (0, 0.0), observations: Vec::new(), spacing: 0.0 }
    }

    /// Takes note of where the solver is.
    pub(crate) fn observe(&mut self, progress: &Progress, elapsed: Duration) {
        let now = elapsed.as_secs_f64();
        let number = progress.machine.0;
        match self.machine {
            Some((machine, _)) if machine == number => {}
            before => {
                if let Some((machine, since)) = before {
                    // Machines too short to be observed are done as well.
                    self.done = (self.done.0 + number.saturating_sub(machine).max(1), self.done.1 + now - since);
                }
                self.machine = Some((number, now));
                self.observations.clear();
                self.spacing = 0.0;
            }
        }
        let Some(violation) = progress.violation.filter(|violation| *violation > 0.0) else { return };
        if self.observations.last().is_some_and(|(last, _)| now - last < self.spacing) {
            return;
        }
        self.observations.push((now, violation));
        if self.observations.len() >= MOST {
            let mut place = 0;
            self.observations.retain(|_| {
                place += 1;
                place % 2 == 0
            });
            let (first, last) = (self.observations[0].0, self.observations[self.observations.len() - 1].0);
            self.spacing = (last - first) / (MOST / 2 - 1) as f64;
        }
    }

    /// Seconds left of the fit, where they can be told.
    pub(crate) fn left(&self, machines: usize, elapsed: Duration) -> Option<f64> {
        let now = elapsed.as_secs_f64();
        let (machine, since) = self.machine?;
        // The later half: how it began says little about how it ends.
        let recent = &self.observations[self.observations.len() / 2..];
        let within = until(recent, now, self.tolerance);
        all_machines(within, now - since, self.done, machines.saturating_sub(machine + 1))
    }
}

/// Seconds from `now` until a violation reaches the tolerance, along the trend of its logarithm; `None` when there is none.
fn until(observations: &[(f64, f64)], now: f64, tolerance: f64) -> Option<f64> {
    if observations.len() < FEWEST {
        return None;
    }
    let points: Vec<(f64, f64)> = observations.iter().map(|&(time, violation)| (time, violation.ln())).collect();
    let mut slopes = Vec::new();
    for (place, &(time, value)) in points.iter().enumerate() {
        let later = points[place + 1..].iter().filter(|(other, _)| *other > time);
        slopes.extend(later.map(|&(other, next)| (next - value) / (other - time)));
    }
    let slope = median(slopes).filter(|slope| *slope < 0.0)?;
    let level = median(points.iter().map(|&(time, value)| value + slope * (now - time)).collect())?;
    Some(((tolerance.ln() - level) / slope).max(0.0)).filter(|left| *left <= LONGEST)
}

/// Seconds left of all machines: of the one that runs, since `elapsed` seconds, and of `rest` more. `done` is how many were
/// done before it, and in which time.
fn all_machines(within: Option<f64>, elapsed: f64, done: (usize, f64), rest: usize) -> Option<f64> {
    let usual = (done.0 > 0).then(|| done.1 / done.0 as f64);
    let this = within.or_else(|| usual.map(|usual| (usual - elapsed).max(0.0)))?;
    let left = this + rest as f64 * usual.unwrap_or(elapsed + this);
    Some(left).filter(|left| *left <= LONGEST)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// A time for people: rounded, in the unit that fits.
pub(crate) fn about(seconds: f64) -> String {
    match seconds {
        _ if seconds < 99.5 => format!("about {:.0} s left", seconds.max(1.0)),
        _ if seconds < 99.5 * 60.0 => format!("about {:.0} min left", seconds / 60.0),
        _ => format!("about {:.0} h left", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A violation that falls by a factor of e each second from 100, with noise and a wild one now and then.
    fn falling(time: f64) -> f64 {
        let wild = if (10.0 * time) as u64 % 7 == 3 { 50.0 } else { 1.0 };
        100.0 * (-time + 0.3 * (91.0 * time).sin()).exp() * wild
    }

    #[test]
    fn the_trend_of_a_noisy_violation_tells_the_time_left() {
        let observations: Vec<(f64, f64)> = (0..50).map(|k| 0.1 * f64::from(k)).map(|t| (t, falling(t))).collect();
        // From 100 to 0.001 takes 11.5 s, of which 5 are over.
        let left = until(&observations, 5.0, 1e-3).unwrap();
        assert!((left - 6.5).abs() < 1.0, "{left}");
    }

    #[test]
    fn nothing_is_said_while_nothing_is_known() {
        let flat: Vec<(f64, f64)> = (0..50).map(|k| (f64::from(k), 1.0)).collect();
        let rising: Vec<(f64, f64)> = (0..50).map(|k| (f64::from(k), f64::from(k + 1))).collect();
        let slow: Vec<(f64, f64)> = (0..50).map(|k| (f64::from(k), 1.0 - 1e-9 * f64::from(k))).collect();
        let at_once: Vec<(f64, f64)> = (0..50).map(|k| (1.0, 1.0 / f64::from(k + 1))).collect();
        for observations in [&flat[..], &rising, &slow, &at_once, &flat[..0], &flat[..3]] {
            assert_eq!(until(observations, 50.0, 1e-3), None);
        }
        assert_eq!(Pace::new(1e-3).left(1, Duration::ZERO), None);
    }

    #[test]
    fn a_violation_below_the_tolerance_has_nothing_left() {
        let observations: Vec<(f64, f64)> = (0..20).map(f64::from).map(|t| (t, 1e-3 * (-t).exp())).collect();
        assert_eq!(until(&observations, 19.0, 1e-3), Some(0.0));
    }

    #[test]
    fn other_machines_last_as_long_as_those_before() {
        assert_eq!(all_machines(Some(3.0), 1.0, (0, 0.0), 0), Some(3.0));
        assert_eq!(all_machines(Some(3.0), 1.0, (0, 0.0), 2), Some(11.0));
        assert_eq!(all_machines(Some(3.0), 1.0, (4, 8.0), 2), Some(7.0));
        assert_eq!(all_machines(None, 1.5, (4, 8.0), 1), Some(2.5));
        assert_eq!(all_machines(None, 5.0, (4, 8.0), 1), Some(2.0));
        assert_eq!(all_machines(None, 5.0, (0, 0.0), 1), None);
    }

    #[test]
    fn a_long_fit_is_observed_in_little_memory_and_machines_are_told_apart() {
        let mut pace = Pace::new(1e-3);
        let mut observe = |machine: usize, time: f64, violation: f64| {
            let progress = Progress { machine: (machine, 3), violation: Some(violation), ..Progress::default() };
            pace.observe(&progress, Duration::from_secs_f64(time));
            assert!(pace.observations.len() < MOST);
            pace.left(3, Duration::from_secs_f64(time))
        };
        for k in 0..10_000 {
            let time = 0.1 * f64::from(k);
            let left = observe(0, time, (-0.01 * time).exp());
            if k == 5_000 {
                // 691 s to 0.001, of which 500 are over, and twice as much for the others.
                assert!((left.unwrap() - (191.0 + 2.0 * 691.0)).abs() < 20.0, "{left:?}");
            }
        }
        // The second machine has just begun: as long as the first, and the third, too.
        let left = observe(1, 1000.0, 1.0).unwrap();
        assert!((left - 2000.0).abs() < 1.0, "{left}");
    }

    #[test]
    fn a_time_is_said_in_the_unit_that_fits() {
        assert_eq!(
            [0.2, 99.0, 100.0, 5000.0, 20_000.0].map(about),
            ["about 1 s left", "about 99 s left", "about 2 min left", "about 83 min left", "about 6 h left"]
        );
    }
}
