//! The numbers that a picture is drawn from, as a table: whoever would draw it otherwise needs no ruler.

/// A table of numbers with the names of its columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// One entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Word(String),
    Empty,
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Cell::Number(number as f64)
    }
}

impl From<&str> for Cell {
    fn from(word: &str) -> Self {
        Cell::Word(word.into())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Cell::Empty, Into::into)
    }
}

impl Numbers {
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        Numbers { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn push<const N: usize>(&mut self, row: [Cell; N]) {
        self.rows.push(row.into());
    }

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The table as CSV with a header. Numbers have all digits that they need to be read back exactly; what is no number is left empty.
    pub fn csv(&self) -> String {
        let quoted = |word: &str| match word.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", word.replace('"', "\"\"")),
            false => word.to_string(),
        };
        let cell = |cell: &Cell| match cell {
            Cell::Number(number) if number.is_finite() => number.to_string(),
            Cell::Number(_) | Cell::Empty => String::new(),
            Cell::Word(word) => quoted(word),
        };
        let mut out = self.columns.join(",") + "\n";
        for row in &self.rows {
            out.push_str(&row.iter().map(cell).collect::<Vec<_>>().join(","));
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_numbers_are_read_back_exactly() {
        let mut numbers = Numbers::new(&["what", "value"]);
        numbers.push(["a, \"b\"".into(), 0.1.into()]);
        numbers.push(["c".into(), f64::NAN.into()]);
        numbers.push([Cell::Empty, 1e-300.into()]);
        let csv = numbers.csv();
        assert!(csv.starts_with("what,value\n\"a, \"\"b\"\"\",0.1\nc,\n,"), "{csv}");
        assert_eq!(csv.lines().last().unwrap()[1..].parse::<f64>().unwrap(), 1e-300);
    }
}
