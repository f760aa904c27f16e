//! Tables as people have them: missing values, words, other separators, and recipes that read other tables in the same way.
#![allow(clippy::unwrap_used)] // a test may end here

use std::sync::Arc;

use maxmargin::data::{Dataset, Missing, TableRecipe};
use maxmargin_io::{
    Blocks, Categorical, ColumnKind, DataWriter, Error, Format, ReadData, ReadOptions, Reader, read_bytes,
};

const PASSENGERS: &str = "Survived,PassengerId,Sex,Age,Fare,Port\n0,1,male,22,7.25,S\n1,2,female,38,71.3,C\n\
                          1,3,female,,7.9,S\n1,4,female,35,53.1,\n0,5,male,NA,8.1,Q\n";

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn names(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|name| name.to_string()).collect()
}

fn read(text: &str, options: &ReadOptions) -> Result<ReadData, Error> {
    Reader::new(options).read_data_bytes(text.as_bytes(), "t.csv")
}

fn rows(data: &Dataset) -> Vec<Vec<f64>> {
    (0..data.rows()).map(|row| data.matrix().row(row)).collect()
}

fn numbers(text: &str) -> Vec<Vec<f64>> {
    rows(&read(text, &plain()).unwrap().data)
}

fn passengers() -> ReadOptions {
    ReadOptions {
        label: Some("Survived".into()),
        categorical: Categorical::Named(names(&["Sex", "Port"])),
        exclude: names(&["PassengerId"]),
        missing: Missing::Median,
        ..plain()
    }
}

#[test]
fn missing_numbers_become_what_is_asked_for_and_are_counted() {
    let text = "a,b,y\n1,10,p\n,20,q\n4,?,p\n4,60,q\n";
    for (missing, a, b) in [(Missing::Mean, 3.0, 30.0), (Missing::Median, 4.0, 20.0), (Missing::Zero, 0.0, 0.0)] {
        let found = read(text, &ReadOptions { missing, ..plain() }).unwrap();
        assert_eq!(rows(&found.data), [[1.0, 10.0], [a, 20.0], [4.0, b], [4.0, 60.0]], "{missing:?}");
        assert_eq!(found.remarks.filled, [("a".to_string(), 1), ("b".to_string(), 1)]);
    }
    let found = read(text, &ReadOptions { missing: Missing::Drop, ..plain() }).unwrap();
    assert_eq!(rows(&found.data), [[1.0, 10.0], [4.0, 60.0]]);
    assert_eq!(found.remarks.dropped, [1, 2]);
}

#[test]
fn a_missing_value_is_an_error_that_names_the_ways_out() {
    let error = read("a,b,y\n1,2,p\n,2,q\n", &plain()).unwrap_err();
    assert!(error.to_string().contains("an empty cell in column 1 \"a\""), "{error}");
    assert!(error.help().contains("missing drop"), "{}", error.help());
}

#[test]
fn a_table_of_missing_values_alone_says_that_no_row_is_left() {
    let error = read("a,y\n,p\n?,q\n", &ReadOptions { missing: Missing::Drop, header: Some(true), ..plain() });
    assert!(error.unwrap_err().to_string().contains("a missing value in every row"));
}

#[test]
fn columns_chosen_by_number_keep_their_names_and_ranges_and_exclusions_are_understood() {
    let text = "a,b,c,d,y\n1,2,3,4,p\n";
    let of = |options: ReadOptions| read(text, &options).unwrap().data.names().unwrap().to_vec();
    let columns = |asked: &[&str]| ReadOptions { columns: Some(names(asked)), ..plain() };
    assert_eq!(of(columns(&["1", "3"])), ["a", "c"]);
    assert_eq!(of(columns(&["1-2", "4"])), ["a", "b", "d"]);
    assert_eq!(of(columns(&["b-d"])), ["b", "c", "d"]);
    assert_eq!(of(ReadOptions { exclude: names(&["2-3"]), ..plain() }), ["a", "d"]);
    assert!(read(text, &columns(&["3-1"])).unwrap_err().to_string().contains("ends before it begins"));
    assert!(read(text, &columns(&["1-2", "2"])).unwrap_err().to_string().contains("asked for twice"));
}

#[test]
fn true_and_false_are_numbers() {
    assert_eq!(numbers("a,b,y\nTrue,1,p\nfalse,2,q\n"), [[1.0, 1.0], [0.0, 2.0]]);
}

#[test]
fn a_decimal_comma_is_read_where_another_separator_leaves_it_free() {
    assert_eq!(numbers("a;b;y\n1,5;2;p\n-0,25;3;q\n"), [[1.5, 2.0], [-0.25, 3.0]]);
    // What may separate thousands is not guessed at.
    assert!(read("a;b;y\n1,5;2;p\n1.234,5;3;q\n", &plain()).is_err());
    assert!(read("a;b;y\n1.5;2;p\n1,234;3;q\n", &plain()).is_err());
}

#[test]
fn bars_and_blanks_separate() {
    assert_eq!(numbers("a|b|y\n1|2|p\n3|4|q\n"), [[1.0, 2.0], [3.0, 4.0]]);
    let blanks = Reader::new(&plain()).read_data_bytes(b" 1   2.5  0\n 10  3    1\n", "housing.data").unwrap();
    assert_eq!(rows(&blanks.data), [[1.0, 2.5], [10.0, 3.0]]);
}

#[test]
fn comments_are_skipped_and_one_right_above_the_rows_may_name_the_columns() {
    assert_eq!(numbers("# made by hand\na,b,y\n1,2,p\n# half of them\n3,4,q\n"), [[1.0, 2.0], [3.0, 4.0]]);
    let named = read("# a,b,y\n1,2,p\n3,4,q\n", &plain()).unwrap().data;
    assert_eq!(named.names().unwrap(), ["a", "b"]);
    assert_eq!(named.rows(), 2);
}

#[test]
fn a_titanic_like_table_is_read_by_its_recipe_in_any_order_and_form() {
    let found = read(PASSENGERS, &passengers()).unwrap();
    let expected = ["Sex=female", "Sex=male", "Age", "Fare", "Port=C", "Port=Q", "Port=S"];
    assert_eq!(found.data.names().unwrap(), expected);
    assert_eq!(found.data.matrix().row(2), [1.0, 0.0, 35.0, 7.9, 0.0, 0.0, 1.0]);
    assert_eq!(found.data.matrix().row(3)[4..], [0.0, 0.0, 0.0]);
    let recipe = Arc::new(found.recipe.unwrap());
    let apply = ReadOptions { recipe: Some(recipe), ..plain() };
    let other = "Port,Fare,Age,Sex,Survived\nQ,8.1,NA,male,0\nX,1,2,female,1\n";
    let found = read(other, &apply).unwrap();
    assert_eq!(rows(&found.data), [[0.0, 1.0, 35.0, 8.1, 0.0, 1.0, 0.0], [1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0]]);
    assert!(found.labelled());
    assert_eq!(found.data.labels().unwrap().get(0).text(), "0");
    assert_eq!((&found.remarks.unseen[0].column[..], found.remarks.unseen[0].cells), ("Port", 1));
    let unlabelled = read("Port,Fare,Age,Sex\nQ,8.1,3,male\n", &apply).unwrap();
    assert!(!unlabelled.labelled() && unlabelled.data.rows() == 1);
    let error = read("Port,Fare,Age\nQ,8.1,3\n", &apply).unwrap_err();
    assert!(error.to_string().contains("there is no column \"Sex\", which the model needs"), "{error}");
}

#[test]
fn a_recipe_without_names_finds_columns_by_their_places() {
    let found = read(
        "p,1,2,3\nq,4,5,6\n",
        &ReadOptions { label: Some("1".into()), columns: Some(names(&["2", "4"])), ..plain() },
    );
    let recipe = Arc::new(found.unwrap().recipe.unwrap());
    let apply = ReadOptions { recipe: Some(recipe), ..plain() };
    assert_eq!(rows(&read("q,7,8,9\n", &apply).unwrap().data), [[7.0, 9.0]]);
    assert_eq!(rows(&read("7,8,9\n", &apply).unwrap().data), [[7.0, 9.0]]);
    assert!(read("1,2,3,4,5,6,7\n", &apply).unwrap_err().to_string().contains("the model needs 2"));
}

#[test]
fn words_of_an_old_model_are_read_without_a_recipe_of_its_own() {
    let recipe = TableRecipe::of_words(&names(&["colour=blue", "colour=red", "size"])).unwrap();
    let apply = ReadOptions { recipe: Some(Arc::new(recipe)), ..plain() };
    let found = read("size,colour,y\n3,red,p\n", &apply).unwrap().data;
    assert_eq!((rows(&found), found.labels().unwrap().get(0).text()), (vec![vec![0.0, 1.0, 3.0]], "p"));
}

#[test]
fn a_look_finds_all_that_is_wrong_with_a_table() {
    let survey = Reader::new(&plain()).survey_bytes(PASSENGERS.as_bytes(), "t.csv").unwrap().unwrap();
    let found: Vec<_> = survey.columns.iter().map(|c| (c.kind(), c.missing, c.distinct().unwrap())).collect();
    assert_eq!(
        found,
        [
            (ColumnKind::WholeNumbers, 0, 2),
            (ColumnKind::WholeNumbers, 0, 5),
            (ColumnKind::Words, 0, 2),
            (ColumnKind::WholeNumbers, 2, 3),
            (ColumnKind::Numbers, 0, 5),
            (ColumnKind::Words, 1, 3),
        ]
    );
    assert!(survey.columns[1].is_identifier());
    let ragged = Reader::new(&plain()).survey_bytes(b"a,b,y\n1,2,p\n1,2\n3,x,q\n", "t.csv").unwrap().unwrap();
    assert_eq!((ragged.rows, ragged.ragged, ragged.columns[1].words), (3, Some((1, 2)), 1));
}

#[test]
fn a_label_that_the_last_column_cannot_be_is_looked_for() {
    let survey = Reader::new(&plain()).survey_bytes(b"target,a,b\n0,1,x\n1,2,y\n", "t.csv").unwrap().unwrap();
    assert_eq!(survey.other_label().unwrap().name, "target");
    let survey = Reader::new(&plain()).survey_bytes(b"a,b,target\n0,1,x\n1,2,y\n", "t.csv").unwrap().unwrap();
    assert!(survey.other_label().is_none());
}

#[test]
fn a_stream_drops_and_fills_with_zeros_and_a_file_may_be_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, PASSENGERS).unwrap();
    let whole = read(PASSENGERS, &passengers()).unwrap().data;
    let blocks: Vec<Dataset> = Blocks::open(&path, &passengers()).unwrap().map(Result::unwrap).collect();
    assert_eq!(blocks.iter().flat_map(rows).collect::<Vec<_>>(), rows(&whole));
    let pipe =
        Blocks::from_source(PASSENGERS.as_bytes(), "-", &ReadOptions { format: Some(Format::Csv), ..passengers() });
    assert!(pipe.err().unwrap().to_string().contains("known only when all rows have been read"));
}

#[test]
fn arrow_parquet_and_npy_are_read_by_the_recipe_of_a_csv_file() {
    let text = "a,b,y\n1,2,p\n3,4,q\n5,7,p\n";
    let found = read(text, &ReadOptions { missing: Missing::Mean, ..plain() }).unwrap();
    let recipe = Arc::new(found.recipe.unwrap());
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [("t.parquet", Format::Parquet), ("t.arrow", Format::Arrow)] {
        let path = folder.path().join(name);
        let mut writer = DataWriter::create(&path, format).unwrap();
        writer.push(&read_bytes(text.as_bytes(), "t.csv", &plain()).unwrap()).unwrap();
        writer.finish().unwrap();
        for options in [
            ReadOptions { recipe: Some(Arc::clone(&recipe)), ..plain() },
            ReadOptions { missing: Missing::Mean, ..plain() },
        ] {
            let back = Reader::new(&options).read_data(&path).unwrap();
            assert_eq!(rows(&back.data), rows(&found.data), "{name}");
            assert_eq!(back.data.names(), found.data.names(), "{name}");
        }
        let chosen = ReadOptions { categorical: Categorical::Named(names(&["a"])), ..plain() };
        let back = Reader::new(&chosen).read_data(&path).unwrap();
        assert_eq!(back.data.names().unwrap(), ["a=1", "a=3", "a=5", "b"], "{name}");
        let survey = Reader::new(&plain()).survey_path(&path).unwrap().unwrap();
        assert_eq!((survey.rows, survey.columns[2].kind()), (3, ColumnKind::Words), "{name}");
    }
}
