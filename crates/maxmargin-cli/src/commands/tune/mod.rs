//! `tune`: parameters by cross validation, what the choice is worth, and the model.
//!
//! | file | what it does |
//! | --- | --- |
//! | `plan.rs` | what is searched, from the arguments and the data |
//! | `checkpoint.rs` | where a search is, kept in a file |
//! | `extra.rs` | what is asked for beside the search: a learning curve, a proof, nested cross validation |
//! | `pictures.rs` | the pictures of a search |
//! | `table.rs` | a table that is read anew for each split |

mod checkpoint;
mod extra;
mod pictures;
mod plan;
mod table;

use std::path::Path;

use maxmargin::data::{Dataset, Reading};
use maxmargin::training::choose_kernel;
use maxmargin::tuning::{self, Results, Search, SearchParams, Tuned};
use maxmargin::view::TunedView;
use maxmargin::{Stop, Workers};
use maxmargin_io::{ReadData, ReadOptions};

use crate::arguments::{OrAuto, Strategy, Tune};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::interrupt::{self, Phase};
use crate::model_file;
use crate::output::{self, Target, Words};
use crate::progress::Watch;
use crate::report::{counted, json_line, tuning as report};
use checkpoint::Kept;
use extra::Extra;
use pictures::Pictures;
use plan::{check_labels, filled, grid, params, seconds, splits, take_column, told, what};
use table::Table;

/// Searches.
pub(super) fn run(arguments: &Tune) -> Result<ExitCode, Failure> {
    let words = Words { quiet: arguments.quiet };
    let origin = Origin::new(&arguments.data, words)?;
    let workers = Workers::new(arguments.threads)?;
    let limit = arguments.max_time.map(seconds).transpose()?;
    let mut params = params(arguments)?;
    let grid = grid(arguments)?;
    let read: Vec<&Path> = origin.file().into_iter().collect();
    let model = arguments.output.as_deref().map(|path| Target::new(path, &read)).transpose()?;
    let checkpoint = arguments
        .checkpoint
        .as_deref()
        .map(|path| checkpoint::checkpoint_target(path, arguments, &read))
        .transpose()?;
    if let (Some(model), Some(checkpoint)) = (&model, &checkpoint)
        && model.path() == checkpoint.path()
    {
        return Err(Failure::new("the model and the checkpoint would be one file", "give them different names"));
    }
    let pictures = arguments.plot.as_deref().map(|folder| Pictures::new(folder, &read)).transpose()?;
    let from = arguments.resume.as_deref().map(checkpoint::load).transpose()?.unwrap_or_default();

    let options = ReadOptions { answers: input::answers_of(params.task), ..arguments.reading.options(None) };
    let options = match params.task.usual() {
        Some(_) => ReadOptions { answers: maxmargin::data::AnswerKind::Classes, ..options },
        None => options,
    };
    let source = origin.fetch(arguments.reading.seed(), &workers, words)?;
    let ReadData { data, recipe, remarks } = source.read_once(&options)?;
    let column = arguments.groups.as_deref().or(arguments.fold_column.as_deref());
    // The model neither has this column nor asks for it again.
    let recipe = match column {
        Some(name) => {
            let place = data.find_column(name)?;
            recipe.map(|recipe| recipe.without(place))
        }
        None => recipe,
    };
    let (data, numbers) = take_column(data, column)?;
    check_labels(arguments, &data)?;
    params.scaling = match arguments.scale {
        OrAuto::Named(kind) => kind,
        OrAuto::Auto => choose_kernel(&params, data.matrix(), recipe.is_some()).scaling,
    };
    let (splits, drawn) = splits(arguments, &data, numbers.as_deref()).map_err(told)?;
    let unfilled = grid;
    let grid = filled(&unfilled, &params, &data, &workers)?;
    let free = grid.suggested(&unfilled);
    let search = SearchParams {
        training: params,
        grid,
        splits,
        metric: arguments.metric(),
        abandon: !matches!(arguments.strategy, Strategy::Grid | Strategy::Separate),
        tables: arguments.strategy != Strategy::Separate,
        seed: arguments.reading.seed(),
    }
    .check()
    .map_err(told)?;
    let search = match arguments.strategy {
        Strategy::Race => search.by(tuning::Strategy::Race).map_err(told)?,
        Strategy::Screen => search.by(tuning::Strategy::Screen).map_err(told)?,
        Strategy::Auto if search.lacks_memory(&data) => search.clone().by(tuning::Strategy::Screen).unwrap_or(search),
        Strategy::Auto | Strategy::Grid | Strategy::Separate => search,
    };
    let table = Table { source: &source, options: &options, remarks: &remarks, rows: data.rows(), column };
    let of_splits = table.of_splits(&search.params().splits, &data)?;
    let search = if of_splits.is_empty() { search } else { search.with_data_of_splits(of_splits)? };
    let what = what(&search, &data, &drawn);
    if !arguments.quiet {
        output::say(&format!("searching {}: {} ...", origin.shown(), counted(search.settings().len(), "cell")));
    }
    let mut watch = Watch::new(limit, arguments.quiet).counting("chain");
    let mut kept = Kept::new(checkpoint);
    let found = interrupt::during(Phase::Solving, || {
        let mut keep = |results: &Results, is_last: bool| kept.keep(results, is_last);
        search.run_extending(&data, &free, from, &workers, &mut watch, &mut keep)
    });
    let spent = watch.elapsed().as_secs_f64();
    watch.finish();
    let (search, tuned) = found?;
    if let Some(failure) = kept.failed {
        return Err(failure);
    }
    for warning in &tuned.warnings {
        words.warning(&warning.to_string(), warning.help());
    }
    let is_cut = tuned.stop != Stop::Converged;
    let mut file = None;
    if let Some(target) = model.as_ref().filter(|_| !interrupt::asked()) {
        let reading = Reading {
            table: recipe,
            unlabelled: false,
            zero_based: arguments.reading.zero_based,
            holdout: None,
            seed: arguments.reading.seed(),
            support_rows: Vec::new(),
        };
        file = fit(arguments, &search, &tuned, &data, reading, target, &workers)?;
    }
    let mut view = TunedView::new(&tuned, arguments.choose, arguments.held_out);
    if let Some(cell) = view.chosen.filter(|_| tuned.stop == Stop::Converged) {
        let extra = Extra { arguments, search: &search, cell, data: &data, table: &table, workers: &workers };
        view.learning = extra.learning()?;
        view.proof = extra.proof()?;
        view.nested = extra.nested(&unfilled, numbers.as_deref())?;
    }
    output::print(&if arguments.json {
        json_line(&view)
    } else if arguments.quiet {
        String::new()
    } else {
        report::words(&tuned, &view, arguments.choose, &what, spent, file.as_deref())
    })?;
    if let Some(pictures) = &pictures {
        pictures.draw(&view, words)?;
    }
    if is_cut {
        let why = if interrupt::asked() { "interrupted" } else { "the time is over" };
        let go_on = match &kept.target {
            Some(target) if kept.written => format!("; to go on: --resume {}", target.shown()),
            _ => "; --checkpoint makes it possible to go on".into(),
        };
        output::say(&format!("{why}: the best so far is shown{go_on}"));
    } else if let Some(target) = kept.target.filter(|target| target.path().is_file()) {
        // What was kept has done its work. A file that was there before was that of this search, which went on.
        let _ = std::fs::remove_file(target.path());
    }
    Ok(if interrupt::asked() { ExitCode::Interrupted } else { ExitCode::Done })
}

/// Trains with what was chosen, on all rows, and saves the model.
fn fit(
    arguments: &Tune,
    search: &Search,
    tuned: &Tuned,
    data: &Dataset,
    reading: Reading,
    target: &Target,
    workers: &Workers,
) -> Result<Option<String>, Failure> {
    let place = tuned.place(arguments.choose);
    let is_done = |place: &usize| tuned.cells[*place].mean.is_some();
    let Some(training) = place.filter(is_done).and_then(|place| search.training(place)) else { return Ok(None) };
    let mut watch = Watch::new(None, arguments.quiet);
    let model = interrupt::during(Phase::Solving, || training.fit(data, workers, &mut watch));
    watch.finish();
    let model = model?;
    if interrupt::asked() {
        return Ok(None);
    }
    let model = model.with_reading(Some(reading));
    let other = model_file::kept_apart(target, &model, !arguments.keeps_others);
    let target = other.as_ref().unwrap_or(target);
    model_file::save(target, &model)?;
    Ok(Some(target.shown()))
}
