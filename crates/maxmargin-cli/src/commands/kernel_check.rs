//! `kernel-check`: is a function a kernel on this data?

use maxmargin::Workers;
use maxmargin::data::{Scaling, ScalingKind};
use maxmargin::kernel::{Kernel, Points, mercer_check};
use maxmargin_io::ReadOptions;
use serde_json::json;

use crate::arguments::KernelCheck;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin};
use crate::output::{self, Words};
use crate::report::{Page, counted, json_line, number};

/// Looks at the eigenvalues.
pub(super) fn run(arguments: &KernelCheck) -> Result<ExitCode, Failure> {
    let params = arguments.kernel.params()?;
    let words = Words { quiet: false };
    let origin = Origin::new(&arguments.data, words)?;
    let options = arguments.reading.options(arguments.columns.as_deref());
    let options = ReadOptions { kernel_values: input::training_table(&params), ..options };
    let data = origin.fetch(arguments.reading.seed(), &Workers::new(0)?, words)?.read_once(&options)?.data;
    let matrix = match arguments.scale {
        ScalingKind::None => data.matrix().clone(),
        kind => Scaling::learn(kind, data.matrix()).apply(data.matrix())?,
    };
    let kernel = params.check(&matrix)?;
    let points = Points::new(matrix, false);
    let rows: Vec<usize> = (0..points.len()).collect();
    let report = mercer_check(&kernel, &points, &rows, arguments.rows as usize)?;
    let always = kernel.always_positive_semidefinite();
    if arguments.json {
        output::print(&json_line(&json!({
            "kernel": kernel.to_string(),
            "data": origin.shown(),
            "rows": report.rows,
            "asymmetry": report.asymmetry,
            "smallest_eigenvalue": report.smallest_eigenvalue,
            "largest_eigenvalue": report.largest_eigenvalue,
            "is_kernel": report.is_kernel,
            "always_positive_semidefinite": always,
        })))?;
    } else {
        let mut page = Page::new();
        let of = if report.rows < data.rows() { format!(" of {}", data.rows()) } else { String::new() };
        page.line("kernel", &kernel.to_string());
        page.line("data", &format!("{}: {}{of}", origin.shown(), counted(report.rows, "row")));
        page.line(
            "eigenvalues",
            &format!(
                "smallest {}, largest {}",
                number(report.smallest_eigenvalue, 6),
                number(report.largest_eigenvalue, 6)
            ),
        );
        page.line("asymmetry", &number(report.asymmetry, 3));
        page.line(
            "verdict",
            match (report.is_kernel, always) {
                (true, true) => "a kernel: positive semidefinite on any data",
                (true, false) => "a kernel on these rows; on others it may not be",
                (false, _) => {
                    "no kernel: it is not positive semidefinite, so models trained with it have no certificate"
                }
            },
        );
        output::print(&page.finish())?;
    }
    Ok(if arguments.strict && !report.is_kernel { ExitCode::NotAsAsked } else { ExitCode::Done })
}
