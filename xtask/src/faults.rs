//! `cargo xtask faults`: trainings on clusters of real processes that lose workers, schedulers and drivers, and the simulator's long campaign.

use std::process::Command;

use crate::command::{root, run};
use crate::failure::Failure;
use crate::package;

/// The schedules of losses, delays and lies that are simulated in virtual time.
const SCHEDULES: &str = "100000";
/// The test of the simulator that takes their number from the environment.
const TEST: &str = "shards::tests::a_hundred_thousand_schedules_change_no_bit";

/// Runs the simulator, then the faults of real processes. `--schedules` is the simulator's, every other option that of the script.
pub(crate) fn faults(cargo: &str, arguments: &[String]) -> Result<(), Failure> {
    let (schedules, rest) = split(arguments)?;
    if schedules != "0" {
        let mut command = Command::new(cargo);
        command
            .current_dir(root()?)
            .args(["test", "--release", "--locked", "--package", "maxmargin", "--lib", "--"])
            .args(["--ignored", "--exact", TEST])
            .env("MAXMARGIN_SCHEDULES", schedules);
        run(&mut command, "the message names the problem and the seed")?;
    }
    let (python, target) = package::installed()?;
    let mut command = Command::new(python);
    command.arg(root()?.join("python/tests/dask_campaign.py")).args(rest).current_dir(target).env_remove("PYTHONPATH");
    run(&mut command, "the lines above name each fault and its seed; --seed 7 --killed 1 tries one alone")
}

/// How many schedules are asked for, and the options of the script.
fn split(arguments: &[String]) -> Result<(&str, &[String]), Failure> {
    match arguments {
        [flag, count, rest @ ..] if flag == "--schedules" => {
            count.parse::<u64>().map(|_| (count.as_str(), rest)).map_err(|_| {
                Failure::new(format!("{count:?} is no number of schedules"), "write --schedules 100000, or 0 for none")
            })
        }
        rest if rest.iter().any(|word| word == "--schedules") => {
            Err(Failure::new("--schedules comes first", "write cargo xtask faults --schedules 1000 --killed 10"))
        }
        rest => Ok((SCHEDULES, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulators_option_comes_first_and_the_others_are_the_scripts() {
        let asked = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<String>>();
        let words = asked(&["--schedules", "10", "--killed", "2"]);
        assert_eq!(split(&words).ok(), Some(("10", &words[2..])));
        assert_eq!(
            split(&asked(&["--killed", "2"])).ok().map(|(count, rest)| (count, rest.len())),
            Some((SCHEDULES, 2))
        );
        for words in [&["--killed", "2", "--schedules", "1"][..], &["--schedules", "x"], &["--schedules"]] {
            assert!(split(&asked(words)).is_err(), "{words:?}");
        }
    }
}
