//! The file of `train --trace`: what a training did, one JSON object a line.
//!
//! A step of a solver is a line of its kind (`pair`, `coordinate`, `mistake`, `sample`, `newton`); the manual says what is in each. A solver
//! that shows no steps leaves a line `progress` whenever its iteration has changed. There are no times in it: the same data and parameters
//! make the same bytes. The file is there once the search has ended or was broken off; a pipe gets the lines as they come.

use std::io::{BufWriter, Write};
use std::path::Path;

use maxmargin::{Progress, Step};
use maxmargin_io::AtomicFile;
use serde::Serialize;

use crate::failure::Failure;

/// Writes a trace. The first failure ends it, and is told at the end: the training is worth more than its trace.
pub(crate) struct Trace {
    /// The file; none once it is whole.
    file: Option<BufWriter<AtomicFile>>,
    /// The machine and iteration of the last line of progress.
    last: Option<(usize, u64)>,
    failed: Option<Failure>,
}

/// A line for a solver without steps.
#[derive(Serialize)]
#[serde(tag = "step", rename = "progress")]
struct ProgressLine {
    machine: usize,
    iteration: u64,
    violation: Option<f64>,
    gap: Option<f64>,
}

impl Trace {
    /// Begins a trace.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = BufWriter::with_capacity(1 << 16, AtomicFile::create(path)?);
        Ok(Trace { file: Some(file), last: None, failed: None })
    }

    /// Adds a step.
    pub(crate) fn add(&mut self, step: &Step) {
        self.line(step);
    }

    /// Adds a line of progress, where there is news.
    pub(crate) fn observe(&mut self, progress: &Progress) {
        let Progress { machine: (machine, _), iteration, violation, gap, .. } = *progress;
        let is_known = violation.is_some_and(|violation| violation > 0.0) || gap.is_some();
        if self.last != Some((machine, iteration)) && is_known {
            self.last = Some((machine, iteration));
            self.line(&ProgressLine { machine, iteration, violation, gap });
        }
    }

    fn line(&mut self, line: &impl Serialize) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_writer(&mut *file, line).map_err(std::io::Error::from);
        if let Err(error) = written.and_then(|()| file.write_all(b"\n")) {
            (self.file, self.failed) = (None, Some(error.into()));
        }
    }

    /// Makes the file whole. What comes later is not part of it.
    pub(crate) fn close(&mut self) {
        let Some(file) = self.file.take() else { return };
        let whole = match file.into_inner() {
            Ok(file) => file.commit().map_err(Failure::from),
            Err(error) => Err(error.into_error().into()),
        };
        self.failed = whole.err();
    }

    /// Makes the file whole, and says whether all of it could be written.
    ///
    /// # Errors
    /// When it could not.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.close();
        self.failed.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_whole_once_it_is_closed_and_nothing_is_added_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.jsonl");
        let mut trace = Trace::create(&path).unwrap();
        let progress = |iteration| Progress { iteration, violation: Some(0.5), ..Progress::default() };
        trace.observe(&progress(1));
        trace.observe(&progress(1));
        trace.observe(&progress(2));
        assert!(!path.exists());
        trace.close();
        trace.observe(&progress(3));
        let text = std::fs::read_to_string(&path).unwrap();
        let line = |iteration: u64| {
            format!(
                "{{\"step\":\"progress\",\"machine\":0,\"iteration\":{iteration},\"violation\":0.5,\"gap\":null}}\n"
            )
        };
        assert_eq!(text, line(1) + &line(2));
        trace.finish().ok().unwrap();
    }
}
