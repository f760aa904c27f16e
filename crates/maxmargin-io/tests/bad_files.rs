//! Bad data files, each with the message it must give: what was found, where, what is expected, and the way out.
#![allow(clippy::unwrap_used)] // a test may end here

mod bad_data;

use bad_data::{BadFile, all, categorical};
use maxmargin_io::{ReadOptions, read_bytes};

#[test]
fn each_bad_file_gives_its_message() {
    let mut mismatches = Vec::new();
    for BadFile { what, name, bytes, options, message, help } in all() {
        let (found, found_help) = match read_bytes(&bytes, name, &options) {
            Ok(data) => (format!("no error, but {} rows", data.rows()), String::new()),
            // Where in a directory of JSON it is depends on the version of the program that wrote it.
            Err(error) => {
                let said = error.to_string();
                (said.split(" at line 1 column ").next().unwrap_or_default().to_string(), error.help())
            }
        };
        if (found.as_str(), found_help.as_str()) != (message.as_str(), help) {
            mismatches.push(format!(
                "{name} {what}\n  expected {message}\n  found    {found}\n  expected help {help}\n  found help    {found_help}"
            ));
        }
    }
    assert!(mismatches.is_empty(), "{} mismatches\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn each_message_is_one_line_that_names_the_file_and_has_a_way_out() {
    for BadFile { what, name, bytes, options, .. } in all() {
        let error = read_bytes(&bytes, name, &options).expect_err(&what);
        let (message, help) = (error.to_string(), error.help());
        assert!(message.starts_with(&format!("{name}:")), "{message}");
        for text in [&message, &help] {
            assert!(!text.is_empty() && !text.chars().any(char::is_control) && !text.ends_with('.'), "{text}");
        }
    }
}

/// `iconv -f latin1` is a command of its own; a flag of ours begins with two dashes.
#[test]
fn no_way_out_names_a_flag_of_the_command_line_but_where_a_front_end_writes_it() {
    let is_flag = |word: &str| word.strip_prefix("--").is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let mut told = 0;
    for BadFile { what, name, bytes, options, .. } in all() {
        let error = read_bytes(&bytes, name, &options).expect_err(&what);
        let help = error.help();
        assert!(!help.split([' ', '(']).any(is_flag), "{what}: {help}");
        let by_flags = error.help_by(|setting, value| format!("--{} {value}", setting.name()));
        told += usize::from(by_flags.split([' ', '(']).any(is_flag));
    }
    assert!(told > 50, "{told}");
}

/// The same file may be read in several ways, but no entry is there twice.
#[test]
fn the_catalogue_holds_more_than_300_files_and_none_twice() {
    let mut files: Vec<String> =
        all().iter().map(|file| format!("{} {:?} {}", file.name, file.options, file.what)).collect();
    let count = files.len();
    files.sort();
    files.dedup();
    assert_eq!(files.len(), count, "an entry is there twice");
    assert!(count >= 300, "{count}");
}

#[test]
fn a_column_of_too_many_values_is_not_taken_for_categories() {
    let table: String = (0..1001).map(|row| format!("id{row},1,a\n")).collect();
    let error = read_bytes(table.as_bytes(), "d.csv", &categorical()).unwrap_err();
    assert_eq!(error.to_string(), "d.csv: column 1 has more than 1000 different values");
    assert_eq!(error.help(), "leave the column out with exclude 1, or join rare values");
    let table: String = (0..1000).map(|row| format!("id{row},1,a\n")).collect();
    let data = read_bytes(table.as_bytes(), "d.csv", &categorical()).unwrap();
    assert_eq!(data.columns(), 1001);
}

#[test]
fn a_table_of_more_bytes_than_allowed_is_refused() {
    let options = ReadOptions { max_bytes: Some(10), ..ReadOptions::default() };
    let error = read_bytes(b"1 1:1 2:2 3:3\n", "d.svm", &options).unwrap_err();
    assert_eq!(error.to_string(), "d.svm: the data are more than the limit of 10 B");
    assert_eq!(error.help(), "raise the limit, or give fewer rows");
}
