//! Words that stand for a value, in the arguments of several commands.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use maxmargin::data::ScalingKind;
use maxmargin::solver::SolverKind;
use maxmargin_io::Format;

/// The formats by their names.
pub(super) const FORMATS: [(&str, Format); 8] = [
    ("csv", Format::Csv),
    ("libsvm", Format::Libsvm),
    ("npy", Format::Npy),
    ("npz", Format::Npz),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
    ("arrow-stream", Format::ArrowStream),
    ("cache", Format::Cache),
];

/// What to find, without its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskKind {
    Classification,
    Regression,
    OneClass,
    Svdd,
}

/// The tasks by their names.
pub(super) const TASKS: [(&str, TaskKind); 4] = [
    ("classification", TaskKind::Classification),
    ("regression", TaskKind::Regression),
    ("one-class", TaskKind::OneClass),
    ("svdd", TaskKind::Svdd),
];

/// A solver by name, or the one that fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solver(pub(crate) Option<SolverKind>);

pub(super) fn solver() -> impl TypedValueParser<Value = Solver> {
    let names = SolverKind::ALL.map(SolverKind::name);
    PossibleValuesParser::new(std::iter::once("auto").chain(names))
        .map(|text: String| Solver(SolverKind::from_name(&text)))
}

/// The solvers by name, for the short help.
pub(super) fn solver_names() -> String {
    format!("{}; auto chooses, and says why", SolverKind::ALL.map(SolverKind::name).join(", "))
}

/// The solvers with what each is for, for the long help.
pub(super) fn solver_list() -> String {
    let line = |kind: SolverKind| format!("\n  {:<18} {}", kind.name(), kind.facts().purpose);
    format!("The solver; auto chooses, and says why{}", SolverKind::ALL.map(line).concat())
}

/// The ways to scale, by their names.
pub(super) const SCALINGS: [(&str, ScalingKind); 3] =
    [("none", ScalingKind::None), ("standard", ScalingKind::Standard), ("minmax", ScalingKind::MinMax)];

pub(super) fn scaling() -> impl TypedValueParser<Value = ScalingKind> {
    one_of(&SCALINGS)
}

/// One of a few words, each of which stands for a value.
pub(super) fn one_of<T: Copy + Send + Sync>(words: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word))
        .map(|text: String| words.iter().find(|(word, _)| *word == text).map_or(words[0].1, |(_, value)| *value))
}

/// What is named, or `auto`: the data decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrAuto<T> {
    Auto,
    Named(T),
}

/// [`one_of`], or `auto`.
pub(super) fn one_of_or_auto<T: Copy + Send + Sync>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = OrAuto<T>> {
    let value = |text: String| words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    PossibleValuesParser::new(std::iter::once("auto").chain(words.iter().map(|(word, _)| *word)))
        .map(move |text: String| value(text).map_or(OrAuto::Auto, OrAuto::Named))
}

/// The units that C and epsilon of a regression count in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetUnits {
    /// The targets' own.
    Own,
    /// Standard deviations of the targets.
    Deviations,
}

/// The units by their names.
pub(super) const TARGET_UNITS: [(&str, TargetUnits); 2] =
    [("own", TargetUnits::Own), ("standard", TargetUnits::Deviations)];
