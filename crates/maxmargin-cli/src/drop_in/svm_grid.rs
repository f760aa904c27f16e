//! `svm-grid`: LIBSVM's `grid.py`, with its flags and its lines, on one search that shares its work.
//!
//! Rates are those of `svm-train -v` with the same folds. They are told in the order of `grid.py`, from coarse to fine, once the search is done.

use std::path::Path;

use maxmargin::data::{AnswerKind, Dataset};
use maxmargin::error::quoted;
use maxmargin::training::Penalty;
use maxmargin::tuning::{Axis, Grid, Knob, Metric, SearchParams, Splits};
use maxmargin::{Stop, TrainingParams, Workers};
use maxmargin_plot::{GridCell, GridPanel, grid};

use super::data::read;
use super::ending::{Ending, watch};
use super::fits::named_weights;
use super::folds::{self, Random};
use super::options::Options;
use super::svm_train;
use crate::failure::Failure;
use crate::input::training_table;
use crate::interrupt::{self, Phase};
use crate::output::{self, Target};
use crate::picture::Sketch;

const USAGE: &str = "\
Usage: svm-grid [grid_options] [svm_options] dataset
grid_options :
-log2c {begin,end,step | \"null\"} : set the range of c (default -5,15,2)
    begin,end,step -- c_range = 2^{begin,...,begin+k*step,...,end}
    \"null\"         -- do not grid with c
-log2g {begin,end,step | \"null\"} : set the range of g (default 3,-15,-2)
    begin,end,step -- g_range = 2^{begin,...,begin+k*step,...,end}
    \"null\"         -- do not grid with g
-v n : n-fold cross validation (default 5)
-out {pathname | \"null\"} : (default dataset.out)
    pathname -- set output file path and name
    \"null\"   -- do not output file
-png pathname : draw the rates to this file
-resume [pathname] : resume the grid task using an existing output file (default pathname is dataset.out)
-svmtrain pathname, -gnuplot {pathname | \"null\"} : taken, and of no effect

svm_options : additional options for svm-train: -s, -t, -d, -r, -n, -m, -e, -h, -wi, -q
";

/// Values of a range at most.
const MOST_VALUES: usize = 1000;

/// The exponents of a parameter, and how they are printed.
struct Exponents {
    /// `None` where the parameter is not varied.
    values: Vec<Option<f64>>,
    /// Whether the user named them: numbers of theirs have a point, the usual ones have none.
    named: bool,
}

impl Exponents {
    fn shown(&self, exponent: Option<f64>) -> String {
        match exponent {
            None => "None".into(),
            Some(exponent) if self.named => decimal(exponent),
            Some(exponent) => exponent.to_string(),
        }
    }
}

/// What was asked for.
struct Plan {
    costs: Exponents,
    gammas: Exponents,
    folds: usize,
    file: String,
    out: Option<String>,
    png: Option<String>,
    resume: Option<String>,
    /// The options of `svm-train`.
    training: Options,
}

/// An exponent of C and one of gamma.
type Pair = (Option<f64>, Option<f64>);

/// What was tried, and its rate in percent.
type Rate = (Pair, f64);

impl Plan {
    /// The data's name stands last, as theirs does.
    fn new(arguments: &[String]) -> Result<Self, Ending> {
        let usage = |what: String| Ending::Usage(Some(what), USAGE);
        let Some((file, options)) = arguments.split_last() else { return Err(Ending::Usage(None, USAGE)) };
        if file.starts_with('-') {
            return Err(Ending::Usage(Some("the dataset is missing".into()), USAGE));
        }
        let name = Path::new(file).file_name().map_or_else(|| file.clone(), |name| name.to_string_lossy().into_owned());
        let mut ranges = [Some((-5.0, 15.0, 2.0)), Some((3.0, -15.0, -2.0))];
        let mut named = [false; 2];
        let (mut folds, mut out, mut png, mut resume) = (5usize, Some(format!("{name}.out")), None, None);
        let mut others: Vec<String> = Vec::new();
        let mut words = options.iter().peekable();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| usage(format!("{word} has no value")));
            match word.as_str() {
                "-log2c" | "-log2g" => {
                    let place = usize::from(word == "-log2g");
                    (ranges[place], named[place]) = (range(value()?).map_err(usage)?, true);
                }
                "-v" => {
                    let text = value()?;
                    let count = text.parse().ok().filter(|&count| count >= 2);
                    folds = count.ok_or_else(|| usage(format!("-v {text:?} is no number from 2 on")))?;
                }
                "-out" => out = Some(value()?.clone()).filter(|path| path != "null"),
                "-png" => png = Some(value()?.clone()),
                "-resume" => {
                    resume = Some(match words.peek() {
                        Some(path) if !path.starts_with('-') => (*path).clone(),
                        _ => format!("{name}.out"),
                    });
                    if words.peek().is_some_and(|path| !path.starts_with('-')) {
                        words.next();
                    }
                }
                "-svmtrain" | "-gnuplot" => drop(value()?),
                "-c" | "-g" => return Err(usage("Use -log2c and -log2g.".into())),
                _ => others.push(word.clone()),
            }
        }
        if ranges == [None, None] {
            return Err(usage("-log2c and -log2g should not be null simultaneously".into()));
        }
        let training = Options::new(&others, "stdrnmehw", "q", USAGE)?;
        if let Some(stray) = training.files.first() {
            return Err(usage(format!("{stray:?} is neither an option nor the last word, which is the dataset")));
        }
        let [costs, gammas] = [0, 1].map(|place| Exponents {
            values: ranges[place].map_or_else(|| vec![None], |range| values(range).into_iter().map(Some).collect()),
            named: named[place],
        });
        Ok(Plan { costs, gammas, folds, file: file.clone(), out, png, resume, training })
    }
}

/// Searches.
pub(super) fn run(arguments: &[String]) -> Result<(), Ending> {
    let plan = Plan::new(arguments)?;
    let read_files = [Path::new(&plan.file)];
    let target = plan.out.as_deref().map(|path| Target::new(Path::new(path), &read_files)).transpose()?;
    let png = plan.png.as_deref().map(|path| Sketch::new(Path::new(path), &read_files, None)).transpose()?;
    let known = plan.resume.as_deref().map(resumed).transpose()?.unwrap_or_default();
    let workers = Workers::new(0)?;
    let params = svm_train::params_of(&plan.training)?;
    if !params.task.is_classification() {
        return Err(Ending::parameter(
            "rates are those of classes",
            "leave -s out, or search a regression with maxmargin tune DATA --task regression",
        ));
    }
    let is_nu = matches!(params.penalty, Penalty::Nu(_));
    if is_nu && plan.costs.values != [None] {
        return Err(Ending::parameter("nu-SVC (-s 1) has no c", "leave c out of the grid with -log2c null"));
    }
    let data = read(&plan.file, &workers, false, AnswerKind::Classes, training_table(&params.kernel))?;
    let mut training = params;
    if !is_nu {
        training.class_weights = named_weights(&plan.training, &data)?;
    }
    let all = pairs(&coarse_to_fine(&plan.costs.values), &coarse_to_fine(&plan.gammas.values));
    let is_known = |pair: &Pair| known.iter().any(|(own, _)| own == pair);
    let missing: Vec<_> = all.iter().filter(|pair| !is_known(pair)).copied().collect();
    let found = if missing.is_empty() { Vec::new() } else { search(&plan, training, &data, &missing, &workers)? };
    let (mut best, mut lines, mut kept) = (None, String::new(), String::new());
    for &(pair, rate) in &known {
        lines += &line(&plan, "resumed", pair, rate, &mut best);
        kept += &kept_line(&plan, pair, rate);
    }
    for &(pair, rate) in &found {
        lines += &line(&plan, "local", pair, rate, &mut best);
        kept += &kept_line(&plan, pair, rate);
    }
    output::print(&lines)?;
    if let Some(((c, g), rate)) = best {
        let of_best: Vec<String> = [c, g].into_iter().flatten().map(|e| decimal(2f64.powf(e))).collect();
        output::print(&format!("{} {}\n", of_best.join(" "), decimal(rate)))?;
    }
    if let Some(sketch) = png {
        let rates: Vec<Rate> = known.iter().chain(&found).copied().collect();
        let picture = grid(&drawn(&plan, &rates, best), &sketch.options).map_err(Failure::from)?;
        sketch.save(&picture)?;
    }
    match target {
        Some(target) => Ok(target.save(kept.as_bytes())?),
        None => Ok(()),
    }
}

/// The rates of the pairs that are wanted, in their order.
fn search(
    plan: &Plan,
    training: TrainingParams,
    data: &Dataset,
    wanted: &[Pair],
    workers: &Workers,
) -> Result<Vec<Rate>, Ending> {
    let folds = plan.folds.min(data.rows());
    let splits = if folds < data.rows() {
        folds::by_class(data.labels()?, folds, &mut Random::new())
    } else {
        folds::plain(data.rows(), folds, &mut Random::new())
    };
    let distinct = |of: fn(&Pair) -> Option<f64>| -> Vec<f64> {
        let mut all: Vec<f64> = wanted.iter().filter_map(of).map(|exponent| 2f64.powf(exponent)).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        all
    };
    let axes = [(Knob::C, distinct(|pair| pair.0)), (Knob::Gamma, distinct(|pair| pair.1))];
    let axes = axes.into_iter().filter(|(_, values)| !values.is_empty()).map(|(knob, values)| Axis { knob, values });
    let search = SearchParams {
        grid: Grid::of(training.kernel.clone(), axes.collect()),
        training,
        splits: Splits::of_folds(&splits)?,
        metric: Metric::Accuracy,
        abandon: false,
        tables: true,
        seed: 0,
    }
    .check()?;
    let mut control = watch(false).counting("chain");
    let tuned = interrupt::during(Phase::Solving, || search.run(data, workers, &mut control));
    control.finish();
    let tuned = tuned?;
    if tuned.stop == Stop::Interrupted {
        return Err(Ending::Interrupted);
    }
    let power = |exponent: Option<f64>| exponent.map(|exponent| 2f64.powf(exponent));
    let rate = |&(c, g): &Pair| {
        let is_it = |cell: &&maxmargin::tuning::Cell| {
            cell.setting.value(Knob::C) == power(c) && cell.setting.value(Knob::Gamma) == power(g)
        };
        let cell = tuned.cells.iter().find(is_it)?;
        // The share of all rows, not the mean of the folds.
        let right: f64 =
            cell.folds.iter().flatten().map(|fold| fold.score.unwrap_or(0.0) * fold.predicted.len() as f64).sum();
        Some(((c, g), six_digits(100.0 * right.round() / data.rows() as f64)))
    };
    Ok(wanted.iter().filter_map(rate).collect())
}

/// The line of a rate, which may be the best so far.
fn line(plan: &Plan, who: &str, (c, g): Pair, rate: f64, best: &mut Option<Rate>) -> String {
    let is_better =
        best.is_none_or(|((own, gamma), of_best)| rate > of_best || rate == of_best && g == gamma && c < own);
    if is_better {
        *best = Some(((c, g), rate));
    }
    let ((best_c, best_g), best_rate) = best.unwrap_or(((c, g), rate));
    let of_best: String = [("c", best_c), ("g", best_g)]
        .into_iter()
        .filter_map(|(name, exponent)| Some(format!("{name}={}, ", decimal(2f64.powf(exponent?)))))
        .collect();
    let (c, g, rate) = (plan.costs.shown(c), plan.gammas.shown(g), decimal(rate));
    format!("[{who}] {c} {g} {rate} (best {of_best}rate={})\n", decimal(best_rate))
}

/// The line of a rate in the file that a search goes on from.
fn kept_line(plan: &Plan, (c, g): Pair, rate: f64) -> String {
    let named = [("log2c", c, &plan.costs), ("log2g", g, &plan.gammas)];
    let named = named.into_iter().filter(|(_, exponent, _)| exponent.is_some());
    let words: String = named.map(|(name, exponent, all)| format!("{name}={} ", all.shown(exponent))).collect();
    format!("{words}rate={}\n", decimal(rate))
}

/// The rates of a file that an earlier search has written; other lines are left aside, as theirs does.
fn resumed(path: &str) -> Result<Vec<Rate>, Ending> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Ending::parameter(
            &format!("cannot read the file for resumption {}: {}", quoted(path), output::reason(&error)),
            "name the file that an earlier search has written, or leave -resume out",
        )
    })?;
    let number = |line: &str, name: &str| -> Option<f64> {
        line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    };
    let rate = |line: &str| Some(((number(line, "log2c"), number(line, "log2g")), number(line, "rate")?));
    Ok(text.lines().filter_map(rate).collect())
}

/// The rates as a picture shows them.
fn drawn(plan: &Plan, rates: &[Rate], best: Option<Rate>) -> maxmargin_plot::Grid {
    let cells: Vec<GridCell> = rates
        .iter()
        .map(|&((c, g), rate)| GridCell {
            at: (g.unwrap_or(0.0), c.unwrap_or(0.0)),
            score: Some(rate),
            ..GridCell::default()
        })
        .collect();
    let place = best.and_then(|best| rates.iter().position(|rate| *rate == best));
    let name = |exponents: &Exponents, name: &str| match exponents.values[..] {
        [None] => String::new(),
        _ => name.into(),
    };
    maxmargin_plot::Grid {
        title: plan.file.clone(),
        below: best.map_or_else(String::new, |((c, g), rate)| {
            let named = [("log2(C)", c), ("log2(gamma)", g)].into_iter().filter_map(|(name, e)| Some((name, e?)));
            let words: Vec<String> = named.map(|(name, exponent)| format!("{name} = {exponent}")).collect();
            format!("best {}, accuracy = {rate} %", words.join(", "))
        }),
        score: "accuracy in %".into(),
        panels: vec![GridPanel {
            heading: String::new(),
            parameters: (name(&plan.gammas, "log2(gamma)"), name(&plan.costs, "log2(C)")),
            cells,
        }],
        best: place.map(|place| (0, place)),
        ..maxmargin_plot::Grid::default()
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
