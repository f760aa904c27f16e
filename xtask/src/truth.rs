//! `cargo xtask truth`: random problems of every kind, each model judged by the oracle of `crates/maxmargin/tests/truth`.

use std::process::Command;
use std::thread::available_parallelism;

use crate::command::{root, run};
use crate::failure::Failure;

/// All problems.
const SEEDS: &str = "0..2000";
/// The test that takes the seeds from the environment.
const TEST: &str = "converged_is_true_of_every_machine_that_says_so";

/// Judges the problems of the seeds asked for, on all cores, with optimisation.
pub(crate) fn truth(cargo: &str, arguments: &[String]) -> Result<(), Failure> {
    let seeds = seeds(arguments)?;
    let threads = available_parallelism().map_or(1, usize::from);
    let mut command = Command::new(cargo);
    command
        .current_dir(root()?)
        .args(["test", "--release", "--locked", "--package", "maxmargin", "--test", "truth", "--"])
        .args(["--nocapture", "--exact", TEST])
        .env("TRUTH_SEEDS", seeds)
        .env("TRUTH_THREADS", threads.to_string());
    run(&mut command, "see the complaints above; --seeds 77..78 tries the problem of seed 77 alone")
}

/// The seeds as `FROM..TO`, FROM below TO.
fn seeds(arguments: &[String]) -> Result<&str, Failure> {
    let asked = match arguments {
        [] => SEEDS,
        [flag, seeds] if flag == "--seeds" => seeds.as_str(),
        _ => return Err(Failure::new("truth takes seeds only", "write cargo xtask truth --seeds 0..2000")),
    };
    let numbers = asked.split_once("..").map(|(from, to)| (from.parse::<u64>(), to.parse::<u64>()));
    match numbers {
        Some((Ok(from), Ok(to))) if from < to => Ok(asked),
        _ => Err(Failure::new(
            format!("the seeds are {asked:?}, not two numbers with .. between"),
            "write --seeds FROM..TO, such as 0..2000",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_are_none_are_refused_with_a_way_out() {
        let asked = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<String>>();
        assert_eq!(seeds(&[]).ok(), Some("0..2000"));
        assert_eq!(seeds(&asked(&["--seeds", "7..9"])).ok(), Some("7..9"));
        for words in [&["--seeds", "9..7"][..], &["--seeds", "7"], &["--seeds", "a..b"], &["--seeds"], &["7..9"]] {
            assert!(seeds(&asked(words)).is_err(), "{words:?}");
        }
    }
}
