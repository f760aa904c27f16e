//! What the user reads: numbers, tables, and the pages made of them. What programs read is in [`maxmargin::view`].

pub(crate) mod diagnosis;
pub(crate) mod explanation;
pub(crate) mod machines;
pub(crate) mod model;
pub(crate) mod suspects;
pub(crate) mod training;

use serde::Serialize;

/// A number with so many digits, without zeros at the end.
pub(crate) fn number(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    let size = value.abs().log10().floor() as i32;
    if !(-4..digits.max(6) as i32).contains(&size) {
        let text = format!("{value:.*e}", digits.saturating_sub(1));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", without_end_zeros(mantissa));
    }
    let decimals = (digits as i32 - 1 - size).max(0) as usize;
    without_end_zeros(&format!("{value:.decimals$}")).to_string()
}

/// A number whose size is all that matters: two digits.
pub(crate) fn brief(value: f64) -> String {
    number(value, 2)
}

fn without_end_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ if what.ends_with("ss") => format!("{count} {what}es"),
        _ => format!("{count} {what}s"),
    }
}

/// A share as a percentage.
pub(crate) fn percent(right: usize, all: usize) -> String {
    if all == 0 { "-".into() } else { format!("{:.1} %", 100.0 * right as f64 / all as f64) }
}

/// Lines of a name and what there is to say of it, the names in a column.
pub(crate) struct Page(String);

impl Page {
    pub(crate) fn new() -> Self {
        Page(String::new())
    }

    pub(crate) fn line(&mut self, name: &str, text: &str) {
        let text = format!("{name:<12}{text}");
        self.0.push_str(text.trim_end());
        self.0.push('\n');
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// Sentences, in lines of about 100 characters.
    pub(crate) fn paragraph(&mut self, text: &str) {
        let mut line = String::new();
        for word in text.split_whitespace() {
            if !line.is_empty() && line.chars().count() + word.chars().count() >= 100 {
                self.text(&line);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.text(&line);
    }

    /// A table: the first line is its head; the first column is flush left, the others right.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                match column {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            self.text(line.trim_end());
        }
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// A value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    // A view is made of texts, numbers and lists, all of which JSON knows.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_to_their_digits() {
        for (value, digits, expected) in [
            (45.867404123, 8, "45.867404"),
            (0.4027777777, 7, "0.4027778"),
            (32.0, 8, "32"),
            (0.0, 8, "0"),
            (-0.0, 8, "0"),
            (1e-5, 3, "1e-5"),
            (-1.2345e-7, 3, "-1.23e-7"),
            (123456789.0, 4, "1.235e8"),
            (f64::INFINITY, 4, "inf"),
            (0.00096, 2, "0.00096"),
            (1000.0, 3, "1000"),
            (4321.5, 2, "4322"),
        ] {
            assert_eq!(number(value, digits), expected);
        }
    }

    #[test]
    fn counts_have_their_plural() {
        assert_eq!(counted(1, "class"), "1 class");
        assert_eq!(counted(3, "class"), "3 classes");
        assert_eq!(counted(0, "row"), "0 rows");
    }
}
