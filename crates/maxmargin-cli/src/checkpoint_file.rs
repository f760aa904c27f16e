//! The door to checkpoint files: when one is due, and what is done when it cannot be written.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use maxmargin::Checkpoint;
use maxmargin::error::quoted;
use maxmargin_io::previous_checkpoint;

use crate::failure::{Failure, help_of};
use crate::interrupt::{self, Phase};
use crate::output::{Target, Words, escaped};

/// Loads a checkpoint.
///
/// # Errors
/// When the file cannot be read, or is no whole checkpoint of a version that we know.
pub(crate) fn load(path: &Path) -> Result<Checkpoint, Failure> {
    Ok(maxmargin_io::load_checkpoint(path)?)
}

/// Writes checkpoints to a file, now and then.
pub(crate) struct Keeper {
    target: Target,
    every: Duration,
    last: Instant,
    written: Arc<AtomicBool>,
    failed: bool,
    words: Words,
}

impl Keeper {
    /// Checks that the file can be written, and that nothing is lost when it is: a file that is there already is
    /// replaced only by a training that goes on from a checkpoint.
    ///
    /// # Errors
    /// When it cannot, or something would be.
    pub(crate) fn new(
        path: &Path,
        every: Duration,
        read: &[&Path],
        resumes: bool,
        words: Words,
    ) -> Result<Self, Failure> {
        let target = Target::new(path, read)?;
        let shown = quoted(&path.to_string_lossy());
        for path in [path, &previous_checkpoint(path)] {
            match fs::metadata(path) {
                Ok(file) if !file.is_file() => {
                    return Err(Failure::new(format!("{shown} cannot be replaced: it is no file"), "name a file"));
                }
                Ok(_) if !resumes => {
                    return Err(Failure::new(
                        format!("there is a file {} already", quoted(&path.to_string_lossy())),
                        format!("go on from it with --resume {}, or remove it", escaped(&path.to_string_lossy())),
                    ));
                }
                _ => {}
            }
        }
        Ok(Keeper { target, every, last: Instant::now(), written: Arc::default(), failed: false, words })
    }

    /// Whether the last checkpoint is old enough.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last) >= self.every
    }

    /// Whether a checkpoint has been written, now and later.
    pub(crate) fn written(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.written)
    }

    /// The file.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Writes a checkpoint. That it fails is told once, and is no reason to stop.
    pub(crate) fn keep(&mut self, checkpoint: &Checkpoint) {
        self.keep_by(|path| maxmargin_io::save_checkpoint(path, checkpoint));
    }

    /// [`Keeper::keep`] for any kind of checkpoint, saved by `save`.
    pub(crate) fn keep_by(&mut self, save: impl FnOnce(&Path) -> Result<(), maxmargin_io::Error>) {
        let path = self.target.path();
        match interrupt::during(Phase::Saving, || save(path)) {
            Ok(()) => self.written.store(true, Ordering::Relaxed),
            Err(error) if !self.failed => {
                self.failed = true;
                self.words.warning(&format!("no checkpoint was written: {error}"), &help_of(&error));
            }
            Err(_) => {}
        }
        self.last = Instant::now();
    }

    /// Removes the files of a training that is done.
    pub(crate) fn remove(&self) {
        if let Err(error) = maxmargin_io::remove_checkpoint(self.target.path()) {
            self.words.warning(&error.to_string(), &help_of(&error));
        }
    }
}

/// The command line that goes on from a checkpoint: the one that was typed, with `--resume`.
pub(crate) fn resume_command(typed: impl IntoIterator<Item = String>, checkpoint: &Path) -> String {
    let mut words = vec!["maxmargin".to_string()];
    let mut typed = typed.into_iter();
    while let Some(word) = typed.next() {
        if word == "--resume" || word == "--warm-start" {
            typed.next();
        } else if !(word.starts_with("--resume=") || word.starts_with("--warm-start=")) {
            words.push(in_shell(&word));
        }
    }
    words.extend(["--resume".to_string(), in_shell(&checkpoint.to_string_lossy())]);
    words.join(" ")
}

/// A word as a shell reads it back.
fn in_shell(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./=,:+@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", escaped(word).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_go_on_is_the_one_that_was_typed() {
        let command = |typed: &[&str]| resume_command(typed.iter().map(|word| word.to_string()), Path::new("at work"));
        assert_eq!(command(&["train", "a.csv", "-C", "1"]), "maxmargin train a.csv -C 1 --resume 'at work'");
        assert_eq!(
            command(&["train", "it's", "--resume", "old", "--kernel", "rbf(gamma=1) + linear", "--warm-start=m.mm"]),
            r"maxmargin train 'it'\''s' --kernel 'rbf(gamma=1) + linear' --resume 'at work'"
        );
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_by_what_goes_on_from_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let keeper =
            |resumes| Keeper::new(&path, Duration::from_secs(30), &[], resumes, Words { quiet: true }).map(drop);
        assert!(keeper(false).is_ok());
        fs::write(previous_checkpoint(&path), "x").unwrap();
        assert!(keeper(false).is_err() && keeper(true).is_ok());
        fs::remove_file(previous_checkpoint(&path)).unwrap();
        fs::create_dir(previous_checkpoint(&path)).unwrap();
        assert!(keeper(true).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_taken_for_a_file_that_may_be_removed_later() {
        let failure = Keeper::new(Path::new("/dev/null"), Duration::from_secs(30), &[], true, Words { quiet: true });
        let Err(Failure::Input { what, .. }) = failure.map(drop) else { panic!("it is no file") };
        assert_eq!(what, "\"/dev/null\" cannot be replaced: it is no file");
    }
}
