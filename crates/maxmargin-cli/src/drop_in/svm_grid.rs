//! `svm-grid`: LIBSVM's `grid.py`, with its flags and its lines, on one search that shares its work.
//!
//! Rates are those of `svm-train -v` with the same folds. They are told in the order of `grid.py`, from coarse to fine, once the search is done.

use std::path::Path;

use maxmargin::data::AnswerKind;
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::tuning::{Axis, Grid, Knob, Metric, SearchParams, Splits};
use maxmargin::{Stop, TrainingParams, Workers};

use super::data::read;
use super::ending::{Ending, watch};
use super::folds::{self, Random};
use crate::interrupt::{self, Phase};
use crate::output::{self, Target};
use crate::size::default_memory;

const USAGE: &str = "\
Usage: svm-grid [grid_options] dataset
grid_options :
-log2c {begin,end,step | \"null\"} : set the range of c (default -5,15,2)
    begin,end,step -- c_range = 2^{begin,...,begin+k*step,...,end}
    \"null\"         -- do not grid with c
-log2g {begin,end,step | \"null\"} : set the range of g (default 3,-15,-2)
-v n : n-fold cross validation (default 5)
-out {pathname | \"null\"} : set output file path and name (default dataset.out)
-svmtrain pathname, -gnuplot pathname, -png pathname : taken, and of no effect
";

/// Values of a range at most.
const MOST_VALUES: usize = 1000;

/// Searches.
pub(super) fn run(arguments: &[String]) -> Result<(), Ending> {
    let mut ranges = [Some((-5.0, 15.0, 2.0)), Some((3.0, -15.0, -2.0))];
    let (mut folds, mut out, mut file) = (5usize, None, None);
    let mut words = arguments.iter();
    let usage = |what: String| Ending::Usage(Some(what), USAGE);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| usage(format!("{word} has no value")));
        match word.as_str() {
            "-log2c" => ranges[0] = range(value()?).map_err(usage)?,
            "-log2g" => ranges[1] = range(value()?).map_err(usage)?,
            "-v" => {
                let text = value()?;
                folds = text
                    .parse()
                    .ok()
                    .filter(|&n| n >= 2)
                    .ok_or_else(|| usage(format!("-v {text:?} is no number from 2 on")))?;
            }
            "-out" => out = Some(value()?.clone()),
            "-svmtrain" | "-gnuplot" | "-png" => drop(value()?),
            _ if word.starts_with('-') => return Err(usage(format!("Unknown option: {}", output::escaped(word)))),
            _ => file = Some(word.clone()),
        }
    }
    let file = file.ok_or(Ending::Usage(None, USAGE))?;
    let name = Path::new(&file).file_name().map_or_else(|| file.clone(), |name| name.to_string_lossy().into_owned());
    let target = match out.as_deref() {
        Some("null") => None,
        path => Some(Target::new(Path::new(path.unwrap_or(&format!("{name}.out"))), &[Path::new(&file)])?),
    };
    let workers = Workers::new(0)?;
    let data = read(&file, &workers, false, AnswerKind::Classes, None)?;
    let folds = folds.min(data.rows());
    let splits = match folds < data.rows() {
        true => folds::by_class(data.labels()?, folds, &mut Random::new()),
        false => folds::plain(data.rows(), folds, &mut Random::new()),
    };
    let exponents = ranges.map(|range| range.map(values));
    let mut axes = Vec::new();
    for (knob, exponents) in [Knob::C, Knob::Gamma].into_iter().zip(&exponents) {
        axes.extend(exponents.iter().map(|all| Axis { knob, values: all.iter().map(|&e| 2f64.powf(e)).collect() }));
    }
    if axes.is_empty() {
        return Err(usage("there is nothing to search: -log2c and -log2g are null".into()));
    }
    let mut training = TrainingParams::default();
    training.settings.memory = default_memory().0;
    let grid = Grid::of(KernelParams::Rbf { gamma: Gamma::Auto }, axes);
    let search = SearchParams {
        training,
        grid,
        splits: Splits::of_folds(&splits)?,
        metric: Metric::Accuracy,
        abandon: false,
        tables: true,
        seed: 0,
    }
    .check()?;
    let mut control = watch(false).counting("chain");
    let tuned = interrupt::during(Phase::Solving, || search.run(&data, &workers, &mut control));
    control.finish();
    let tuned = tuned?;
    if tuned.stop == Stop::Interrupted {
        return Err(Ending::Interrupted);
    }
    let [costs, gammas] =
        exponents.map(|all| all.map_or_else(|| vec![None], |all| all.into_iter().map(Some).collect()));
    let (mut lines, mut kept, mut best) = (String::new(), String::new(), None);
    for (c, g) in pairs(&coarse_to_fine(&costs), &coarse_to_fine(&gammas)) {
        let is_it = |knob: Knob, exponent: Option<f64>, cell: &maxmargin::tuning::Cell| {
            cell.setting.value(knob) == exponent.map(|e: f64| 2f64.powf(e))
        };
        let Some(cell) = tuned.cells.iter().find(|cell| is_it(Knob::C, c, cell) && is_it(Knob::Gamma, g, cell)) else {
            continue;
        };
        // The share of all rows, not the mean of the folds.
        let right: f64 =
            cell.folds.iter().flatten().map(|fold| fold.score.unwrap_or(0.0) * fold.predicted.len() as f64).sum();
        let rate = six_digits(100.0 * right.round() / data.rows() as f64);
        let is_better = best.is_none_or(|(own, rate_of_best, gamma): (Option<f64>, f64, Option<f64>)| {
            rate > rate_of_best || rate == rate_of_best && g == gamma && c < own
        });
        if is_better {
            best = Some((c, rate, g));
        }
        let Some((best_c, best_rate, best_g)) = best else { continue };
        let own: Vec<String> = [c, g].into_iter().flatten().map(|e| e.to_string()).collect();
        let of_best: Vec<String> = [("c", best_c), ("g", best_g)]
            .into_iter()
            .filter_map(|(name, e)| e.map(|e| format!("{name}={}, ", decimal(2f64.powf(e)))))
            .collect();
        lines += &format!(
            "[local] {} {} (best {}rate={})\n",
            own.join(" "),
            decimal(rate),
            of_best.concat(),
            decimal(best_rate)
        );
        let named = [("log2c", c), ("log2g", g)]
            .into_iter()
            .filter_map(|(name, e)| e.map(|e| format!("{name}={} ", decimal(e))));
        kept += &format!("{}rate={}\n", named.collect::<String>(), decimal(rate));
    }
    output::print(&lines)?;
    if let Some((c, rate, g)) = best {
        let of_best: Vec<String> = [c, g].into_iter().flatten().map(|e| decimal(2f64.powf(e))).collect();
        output::print(&format!("{} {}\n", of_best.join(" "), decimal(rate)))?;
    }
    match target {
        Some(target) => Ok(target.save(kept.as_bytes())?),
        None => Ok(()),
    }
}

/// A range of exponents: begin, end and step; `None` for `null`.
fn range(text: &str) -> Result<Option<(f64, f64, f64)>, String> {
    if text == "null" {
        return Ok(None);
    }
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match numbers[..] {
        [begin, end, step]
            if text.matches(',').count() == 2
                && ((end - begin) / step) >= 0.0
                && ((end - begin) / step) < MOST_VALUES as f64 =>
        {
            Ok(Some((begin, end, step)))
        }
        _ => Err(format!("{text:?} is no range begin,end,step of at most {MOST_VALUES} values")),
    }
}

/// The values of a range.
fn values((begin, end, step): (f64, f64, f64)) -> Vec<f64> {
    (0..=((end - begin) / step + 1e-9) as usize).map(|k| begin + k as f64 * step).collect()
}

/// A list with its middle first, then the middles of both halves in turn, as `grid.py` goes through it.
fn coarse_to_fine<T: Copy>(list: &[T]) -> Vec<T> {
    let Some(&middle) = list.get(list.len() / 2) else { return Vec::new() };
    let (left, right) = (coarse_to_fine(&list[..list.len() / 2]), coarse_to_fine(&list[list.len() / 2 + 1..]));
    let mut all = vec![middle];
    for k in 0..left.len().max(right.len()) {
        all.extend(left.get(k));
        all.extend(right.get(k));
    }
    all
}

/// All pairs, in growing squares of both lists.
fn pairs<T: Copy>(costs: &[T], gammas: &[T]) -> Vec<(T, T)> {
    let (all_costs, all_gammas) = (costs.len() as f64, gammas.len() as f64);
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < costs.len() || j < gammas.len() {
        if i as f64 / all_costs < j as f64 / all_gammas {
            all.extend(gammas[..j].iter().map(|&gamma| (costs[i], gamma)));
            i += 1;
        } else {
            all.extend(costs[..i].iter().map(|&cost| (cost, gammas[j])));
            j += 1;
        }
    }
    all
}

/// A rate as `svm-train` prints it, with six digits.
fn six_digits(rate: f64) -> f64 {
    let decimals = if rate >= 100.0 {
        3
    } else if rate >= 10.0 {
        4
    } else {
        5
    };
    format!("{rate:.decimals$}").parse().unwrap_or(rate)
}

/// A number as Python prints it, with a point.
fn decimal(value: f64) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_gone_through_from_coarse_to_fine_and_every_pair_comes_once() {
        assert_eq!(coarse_to_fine(&[1, 2, 3, 4, 5]), [3, 2, 5, 1, 4]);
        let all = pairs(&[1, 2, 3], &[7, 8]);
        assert_eq!(all.len(), 6);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 6);
    }

    #[test]
    fn ranges_go_both_ways_and_end() {
        assert_eq!(values(range("-1,3,2").unwrap().unwrap()), [-1.0, 1.0, 3.0]);
        assert_eq!(values(range("3,-1,-2").unwrap().unwrap()), [3.0, 1.0, -1.0]);
        assert!(range("null").unwrap().is_none());
        for wrong in ["", "1,2", "1,5,-1", "1,2,0", "1,1e9,1", "a,b,c", "1,2,1,x"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_have_six_digits() {
        assert_eq!((six_digits(81.481_481_48), six_digits(100.0), decimal(5.0)), (81.4815, 100.0, "5.0".into()));
    }
}
