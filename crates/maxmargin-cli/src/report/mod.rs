//! What the user reads: numbers, tables, and the pages made of them. What programs read is in [`maxmargin::view`].

pub(crate) mod diagnosis;
pub(crate) mod explanation;
pub(crate) mod machines;
pub(crate) mod model;
pub(crate) mod score;
pub(crate) mod suspects;
pub(crate) mod training;
pub(crate) mod tuning;

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

/// How many of all, as a percentage.
pub(crate) fn percent(right: usize, all: usize) -> String {
    if all == 0 { "-".into() } else { format!("{:.1} %", 100.0 * right as f64 / all as f64) }
}

/// A share as a percentage.
pub(crate) fn share(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// The most letters of a line.
const WIDTH: usize = 80;

/// How many of them the name of a line takes.
const NAME: usize = 12;

/// Lines of a name and what there is to say of it, the names in a column.
pub(crate) struct Page(String);

impl Page {
    pub(crate) fn new() -> Self {
        Page(String::new())
    }

    /// A name, and what there is to say of it.
    pub(crate) fn line(&mut self, name: &str, text: &str) {
        self.wrap(format!("{name:<NAME$}"), text, NAME);
    }

    /// [`Page::line`] of a text that must stay in one piece, such as the name of a file.
    pub(crate) fn exact(&mut self, name: &str, text: &str) {
        self.push(&format!("{name:<NAME$}{text}"));
    }

    /// A sentence; what does not fit goes on below, two letters further to the right.
    pub(crate) fn text(&mut self, text: &str) {
        let rest = text.trim_start_matches(' ');
        let indent = text.len() - rest.len();
        self.wrap(" ".repeat(indent), rest, indent + 2);
    }

    /// Sentences that go on at the left.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.wrap(String::new(), text, 0);
    }

    /// Words in lines of at most [`WIDTH`] letters: the first goes on from `line`, the others begin with blanks. A longer word has a line of
    /// its own.
    fn wrap(&mut self, mut line: String, text: &str, indent: usize) {
        let mut is_begun = false;
        for word in text.split(' ') {
            if is_begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
                self.push(&line);
                line = " ".repeat(indent);
                is_begun = false;
            }
            if is_begun {
                line.push(' ');
            }
            line.push_str(word);
            is_begun = true;
        }
        self.push(&line);
    }

    fn push(&mut self, line: &str) {
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    /// A table: the first line is its head; the first column is flush left, the others right. One that is wider than a page is folded: the
    /// columns that do not fit stand below, beside the first column again.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut next = 1.min(columns);
        loop {
            let first = next;
            let mut total = widths.first().copied().unwrap_or(0);
            while next < columns && (next == first || total + 2 + widths[next] <= WIDTH) {
                total += 2 + widths[next];
                next += 1;
            }
            for row in rows {
                let mut line = row.first().map_or_else(String::new, |cell| format!("{cell:<0$}", widths[0]));
                for column in first..next.min(row.len()) {
                    line.push_str(&format!("  {:>1$}", row[column], widths[column]));
                }
                self.push(&line);
            }
            if next >= columns {
                return;
            }
            self.push("");
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
    fn a_page_is_80_letters_wide_whatever_stands_on_it() {
        let mut page = Page::new();
        page.line("name", &"seven77 ".repeat(20));
        page.text(&format!("  help: {}", "seven77 ".repeat(20)));
        let wide: Vec<String> = (0..30).map(|column| format!("{column:010}")).collect();
        page.table(&[wide.clone(), wide]);
        page.line("long", &"x".repeat(100));
        page.exact("file", "a name with blanks");
        let page = page.finish();
        let long: Vec<&str> = page.lines().filter(|line| line.chars().count() > WIDTH).collect();
        assert_eq!(long, [format!("{:<NAME$}{}", "long", "x".repeat(100))]);
        assert!(page.contains("\n    seven77") && page.contains("\n            seven77"), "{page}");
        for column in 1..30 {
            assert_eq!(page.matches(&format!("{column:010}")).count(), 2, "{page}");
        }
        let mut one = Page::new();
        one.table(&[vec!["alone".into()], vec![]]);
        assert_eq!(one.finish(), "alone\n\n");
    }

    #[test]
    fn counts_have_their_plural() {
        assert_eq!(counted(1, "class"), "1 class");
        assert_eq!(counted(3, "class"), "3 classes");
        assert_eq!(counted(0, "row"), "0 rows");
    }
}
