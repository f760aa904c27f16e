//! What `doctor` reports: findings in words, each with its way out.

use maxmargin::Model;
use maxmargin::data::Dataset;
use maxmargin::diagnosis::Finding;
use maxmargin::error::quoted;
use maxmargin::view::{DiagnosisView, FindingView, SupportView};

use super::{Page, counted, number, percent};

/// Whom the findings are about.
#[derive(Debug)]
pub(crate) struct Patient<'a> {
    pub(crate) shown: String,
    pub(crate) data: &'a Dataset,
    pub(crate) model: Option<&'a Model>,
    pub(crate) findings: &'a [Finding],
}

/// A finding in words: what, and the way out.
struct Said {
    what: String,
    help: String,
}

/// The page.
pub(crate) fn words(patient: &Patient<'_>) -> String {
    let mut page = Page::new();
    let Patient { shown, data, model, findings } = patient;
    page.line("data", &format!("{shown}: {}, {}", counted(data.rows(), "row"), counted(data.columns(), "column")));
    if let Some(model) = model {
        let support = SupportView::of_model(model);
        page.line(
            "fit",
            &format!(
                "{}: {} after {}; {} of {}, {} at the bound",
                model.provenance().origin,
                model.stop().name(),
                counted(model.iterations() as usize, "iteration"),
                counted(support.total, "support vector"),
                counted(model.provenance().rows, "training row"),
                support.bounded
            ),
        );
        let gaps = model.machines().iter().filter_map(|machine| machine.evidence.certificate());
        let joint = model.parts().joint.iter().filter_map(|joint| joint.certificate());
        let worst = gaps.map(|found| found.relative_gap).chain(joint.map(|found| found.relative_gap)).reduce(f64::max);
        page.line(
            "certificate",
            &worst.map_or_else(|| " none".into(), |gap| format!(" the largest relative gap is {}", number(gap, 2))),
        );
    }
    for finding in *findings {
        let Said { what, help } = say(finding, patient);
        page.text("");
        page.text(&format!("{}: {what}", finding.severity().name()));
        page.text(&format!("  help: {help}"));
    }
    if findings.is_empty() {
        page.text("");
        page.text("nothing was found that needs a word");
    }
    page.finish()
}

/// What `doctor --json` prints.
pub(crate) fn view<'a>(patient: &'a Patient<'a>) -> DiagnosisView<'a> {
    let one = |finding: &'a Finding| {
        let Said { what, help } = say(finding, patient);
        FindingView::new(finding, what, help)
    };
    DiagnosisView::new(&patient.shown, patient.data, patient.model, patient.findings.iter().map(one).collect())
}

/// What a finding means. Rows are counted from 1 here.
fn say(finding: &Finding, patient: &Patient<'_>) -> Said {
    let Patient { data, findings, .. } = patient;
    let column = |column: usize| format!("column {}", quoted(&data.name(column)));
    let class = |class: usize| quoted(data.answers().labels().map_or("", |labels| labels.classes()[class].text()));
    let label = |row: usize| quoted(&data.answers().text(row).unwrap_or_default());
    let more = |count: usize, word: &str| match count {
        0 | 1 => String::new(),
        _ => format!(", and {} more", counted(count - 1, word)),
    };
    let (what, help) = match *finding {
        Finding::UnscaledColumns { wide, narrow, ratio } => (
            format!("{} ranges {} times as far as {}, which will hardly count", column(wide), number(ratio, 3), column(narrow)),
            "scale the columns: train with --scale standard".into(),
        ),
        Finding::ConstantColumns { count, columns, first } => (
            format!("{} of {} have one value in all rows, the first is {}", count, counted(columns, "column"), column(first)),
            "leave them out with --columns: they tell nothing".into(),
        ),
        Finding::CopiedColumns { count, first: [original, copy] } => (
            format!("{} is the same as {} in every row{}", column(copy), column(original), more(count, "copy")),
            "leave copies out with --columns: a kernel counts them twice".into(),
        ),
        Finding::LonelyColumns { count, columns, first } => (
            format!("{} of {} are not 0 in a single row only, the first is {}", count, counted(columns, "column"), column(first)),
            "leave them out: what one row alone has tells nothing of others".into(),
        ),
        Finding::MostlyZeros { share } => (
            format!("{:.1} % of the numbers are 0, and all of them are stored", 100.0 * share),
            "convert the data to LIBSVM text or a cache, which leave zeros out: maxmargin convert".into(),
        ),
        Finding::HugeValues { count, row, column: place, value } => (
            format!("the value in row {}, {} is {}{}", row + 1, column(place), number(value, 6), more(count, "value above 1e8")),
            "correct it if it stands for a missing value, else scale the columns: train with --scale standard".into(),
        ),
        Finding::TinyRanges { count, column: place, range, size } => (
            format!("{} varies by {} around {}{}", column(place), number(range, 3), number(size, 6), more(count, "such column")),
            "take the column's mean off: train with --scale standard".into(),
        ),
        Finding::FewRows { rows, columns } => (
            format!("there are fewer rows ({rows}) than columns ({columns})"),
            "begin with the linear kernel, which mostly separates such rows already, and test on rows kept out: --holdout 0.2".into(),
        ),
        Finding::RepeatedRows { count, rows, first: [first, again] } => (
            format!("{} of {} repeat one before, label and all: row {} is row {} again", count, counted(rows, "row"), again + 1, first + 1),
            "keep one of each where they are slips; a test set must not share rows with the training set".into(),
        ),
        Finding::Contradictions { count, first: [first, again] } => (
            format!(
                "{} one before with another label: row {} ({}) is row {} ({}) again",
                if count == 1 { "1 row repeats".into() } else { format!("{count} rows repeat") },
                again + 1,
                label(again),
                first + 1,
                label(first)
            ),
            "look at these rows: no model can get both right".into(),
        ),
        Finding::SingleClass => (
            format!("all rows have the label {}", class(0)),
            "give rows of two classes at least, or find what is unlike the others: --task one-class".into(),
        ),
        Finding::SingleRows { count, class: place } => (
            format!("{} has one row{}", class(place), more(count, "such class")),
            "give more rows of it, or leave it out: nothing can be learnt of it and tested on".into(),
        ),
        Finding::RareClasses { count, class: place, rows } => (
            format!("{} has {rows} rows{}", class(place), more(count, "class of fewer than 5")),
            "give more rows of it: folds of a cross-validation will lack it".into(),
        ),
        Finding::Imbalance { largest, smallest, ratio } => (
            format!("{} has {} times as many rows as {}", class(largest), number(ratio, 3), class(smallest)),
            "train with --class-weights balanced, and look at the errors of each class".into(),
        ),
        Finding::NumericLabels { classes, rows } => (
            format!("the labels of {} are {} different numbers", counted(rows, "row"), classes),
            "if they are amounts and not classes: --task regression; else name the label column with --label".into(),
        ),
        Finding::NarrowKernel { exponent, gamma } => (
            format!("gamma is too large: the kernel value of a median pair of rows is e^-{}, so every row stands alone", number(exponent, 3)),
            format!("choose a gamma about {}, or --gamma scale", number(gamma, 2)),
        ),
        Finding::WideKernel { exponent, gamma } if gamma.is_finite() => (
            format!("gamma is too small: the kernel value of a median pair of rows is e^-{}, so all rows look alike", number(exponent, 3)),
            format!("choose a gamma about {}, or --gamma scale", number(gamma, 2)),
        ),
        Finding::WideKernel { .. } => (
            "most pairs of rows are the same to the kernel".into(),
            "give columns that tell the rows apart".into(),
        ),
        Finding::KernelOverflow { row } => (
            format!("the kernel value of row {} with itself is too large to compute with", row + 1),
            "scale the columns (--scale standard), or choose a smaller gamma or degree".into(),
        ),
        Finding::LargeKernel { largest } => (
            format!("kernel values reach {}, which leaves few digits to tell rows apart", number(largest, 3)),
            "scale the columns (--scale standard), or choose a smaller gamma or degree".into(),
        ),
        Finding::NotPositiveSemidefinite { smallest, rows } => (
            format!("the function is no kernel on these rows: an eigenvalue of {} of them is {}", rows, number(smallest, 3)),
            "choose another kernel: a model with this one has no certificate".into(),
        ),
        Finding::SmallPenalty { c, usual } => (
            format!("C = {} is so small that no row can reach the margin", number(c, 6)),
            format!("begin at a C about {}", number(usual, 2)),
        ),
        Finding::LargePenalty { c, usual } => (
            format!("C = {} is {} times 1/mean k(x, x): a fit takes long, and follows every row", number(c, 6), number(c / usual, 2)),
            format!("begin at a C about {}, and raise it while the errors on rows kept out fall", number(usual, 2)),
        ),
        Finding::NotConverged { stop, iterations } => (
            format!("the solver did not converge ({stop} after {})", counted(iterations as usize, "iteration")),
            "raise --max-iterations or --max-time, scale the columns (--scale standard), or choose a smaller C".into(),
        ),
        Finding::LooseCertificate { relative_gap } => (
            format!("the certificate leaves a relative gap of {}", number(relative_gap, 2)),
            "train to a smaller --tolerance, or scale the columns (--scale standard)".into(),
        ),
        Finding::OtherData => (
            "the data is not the data that the model was trained on (its hash differs)".into(),
            "give the training data for what is said of the training".into(),
        ),
        Finding::AllAtBound { bounded, rows, c } => (
            format!("{} of the rows are at the bound C = {}: the model hardly looks at them", percent(bounded, rows), number(c, 6)),
            "choose a larger C, or another gamma".into(),
        ),
        Finding::NoneAtBound { c, largest } => (
            format!("no alpha is above {}, so that any larger C than that gives this model, not C = {} alone", number(largest, 4), number(c, 6)),
            "a smaller C makes a wider margin; try some with rows kept out: --holdout 0.2".into(),
        ),
        Finding::ManySupportVectors { support, rows } => (
            format!("{} of the rows are support vectors, most of them below the bound: the model knows its rows by heart", percent(support, rows)),
            "choose a smaller gamma or degree".into(),
        ),
        Finding::ManyIterations { iterations, rows, free, bounded } => {
            let why = slow_because(findings);
            (
                format!(
                    "the fit took {} steps a row ({free} support vectors are free, {bounded} at the bound){}",
                    number(iterations as f64 / rows as f64, 3),
                    if why.is_empty() { String::new() } else { format!(", likely because {}", why.join(", and ")) }
                ),
                "scale the columns (--scale standard), choose a smaller C, or a larger --tolerance".into(),
            )
        }
        Finding::UnknownLabels { count, row } => (
            format!("the model does not know the label {} of row {}{}", label(row), row + 1, more(count, "row")),
            "train the model anew with rows of that label".into(),
        ),
        Finding::NoBetterThanMajority { errors, of_majority, rows } => (
            format!("the model makes {errors} errors of {}, and the most frequent class alone {of_majority}", counted(rows, "row")),
            "look at the other findings; else try another kernel, gamma and C".into(),
        ),
        Finding::NoBetterThanMean { r_squared } => (
            format!("the mean of the targets predicts as well as the model does (R² = {})", number(r_squared, 3)),
            "look at the other findings; else try another kernel, gamma, C and epsilon".into(),
        ),
        _ => (format!("{finding:?}"), "look it up in the documentation".into()),
    };
    Said { what, help }
}

/// What of the other findings makes a fit slow.
fn slow_because(findings: &[Finding]) -> Vec<&'static str> {
    let reason = |finding: &Finding| match finding {
        Finding::UnscaledColumns { .. } => Some("the columns are not scaled"),
        Finding::HugeValues { .. } | Finding::LargeKernel { .. } => Some("values are huge"),
        Finding::LargePenalty { .. } | Finding::NoneAtBound { .. } => Some("C is large"),
        Finding::Contradictions { .. } => Some("equal rows have different labels"),
        Finding::RepeatedRows { count, rows, .. } if 10 * count > *rows => Some("many rows are repeated"),
        Finding::WideKernel { .. } => Some("all rows look alike to the kernel"),
        _ => None,
    };
    let mut reasons: Vec<&'static str> = findings.iter().filter_map(reason).collect();
    reasons.dedup();
    reasons
}
