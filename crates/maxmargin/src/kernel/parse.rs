//! Kernels as the user writes them: names, parameters, sums and products.
//!
//! ```text
//! kernel  = product { "+" product }
//! product = factor { "*" factor }                 of numbers and at least one kernel
//! factor  = number | name [ "(" [ key "=" value { "," key "=" value } ] ")" ] | "(" kernel ")"     (X.1)
//! ```

use std::str::FromStr;

use super::params::NAMES;
use super::{Gamma, KernelParams};
use crate::error::{Error, Parameter, quoted};

/// The longest text that is read, in bytes.
const LONGEST: usize = 2000;

/// The deepest nesting of parentheses that is read.
const DEEPEST: usize = 20;

/// Reads a kernel: a name with its parameters, or sums, products and multiples of such.
///
/// | name | parameters |
/// | --- | --- |
/// | `linear`, `precomputed` | |
/// | `polynomial`, `poly` | `gamma`, `coef0` (0), `degree` (3) |
/// | `rbf`, `gaussian` | `gamma` or `sigma` |
/// | `sigmoid` | `gamma`, `coef0` (0) |
/// | `laplacian` | `gamma` |
/// | `chi-square`, `chi2` | `gamma` |
///
/// `gamma` is a number, `scale` (the default) or `auto`. Ranges are for [`KernelParams::check`] to test.
///
/// # Errors
/// When the text is not of the form (X.1); the message says where, and what is allowed there.
///
/// # Examples
/// ```
/// use maxmargin::kernel::KernelParams;
///
/// let kernel: KernelParams = "polynomial(degree=2, coef0=1, gamma=1) * (linear + 2*rbf(sigma=2))".parse()?;
/// assert!(matches!(kernel, KernelParams::Product(parts) if parts.len() == 2));
/// let error = "rbf(degree=2)".parse::<KernelParams>().unwrap_err();
/// assert_eq!(error.to_string(), r#"kernel "rbf(degree=2)", character 5: found "degree", expected gamma or sigma"#);
/// # Ok::<(), maxmargin::Error>(())
/// ```
impl FromStr for KernelParams {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text.len() > LONGEST {
            return Err(Error::Combination {
                what: format!(
                    "the kernel is written in {} bytes, but {LONGEST} are the most that are read",
                    text.len()
                ),
                help: "write a shorter kernel".into(),
            });
        }
        let mut parser = Parser { text, place: 0 };
        let kernel = parser.sum(0)?;
        match parser.peek() {
            None => Ok(kernel),
            Some(_) => Err(parser.unexpected("\"+\", \"*\" or the end")),
        }
    }
}

impl TryFrom<&str> for KernelParams {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self, Error> {
        text.parse()
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Bytes read.
    place: usize,
}

/// One factor of a product.
enum Factor {
    Number(f64),
    Kernel(KernelParams),
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.place..]
    }

    /// The next character that is not blank.
    fn peek(&mut self) -> Option<char> {
        self.place = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    /// Whether this character comes next; if so it is read.
    fn accept(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        if found {
            self.place += character.len_utf8();
        }
        found
    }

    /// The next characters, as many as belong together.
    fn take(&mut self, belongs: impl Fn(usize, char) -> bool) -> &'a str {
        self.peek();
        let rest = self.rest();
        let end = rest.char_indices().find(|&(at, character)| !belongs(at, character)).map_or(rest.len(), |(at, _)| at);
        self.place += end;
        &rest[..end]
    }

    fn word(&mut self) -> &'a str {
        self.take(|at, character| {
            character.is_ascii_alphabetic()
                || (at > 0 && (character.is_ascii_alphanumeric() || character == '-' || character == '_'))
        })
    }

    /// The text of a number: digits, a point, and an exponent with its sign.
    fn number_text(&mut self) -> &'a str {
        self.peek();
        let bytes = self.rest().as_bytes();
        let exponent = |at: usize| at > 0 && matches!(bytes[at - 1], b'e' | b'E');
        self.take(|at, character| {
            character.is_ascii_alphanumeric()
                || character == '.'
                || (matches!(character, '+' | '-') && (at == 0 || exponent(at)))
        })
    }

    fn fault(&self, place: usize, found: &str, expected: &str, help: &str) -> Error {
        let character = self.text[..place].chars().count() + 1;
        let found = if found.is_empty() { "the end".to_string() } else { quoted(found) };
        Error::Combination {
            what: format!("kernel {}, character {character}: found {found}, expected {expected}", quoted(self.text)),
            help: help.into(),
        }
    }

    /// The fault that something else comes next.
    fn unexpected(&mut self, expected: &str) -> Error {
        self.peek();
        let start = self.place;
        let word = self.word();
        let found = if word.is_empty() {
            &self.text[start..self.text.len().min(next_character(self.text, start))]
        } else {
            word
        };
        self.fault(start, found, expected, EXAMPLE)
    }

    fn sum(&mut self, depth: usize) -> Result<KernelParams, Error> {
        let mut parts = vec![self.product(depth)?];
        while self.accept('+') {
            parts.push(self.product(depth)?);
        }
        Ok(one_or(parts, KernelParams::Sum))
    }

    fn product(&mut self, depth: usize) -> Result<KernelParams, Error> {
        let (mut number, mut parts) = (None, Vec::new());
        loop {
            match self.factor(depth)? {
                Factor::Number(factor) => number = Some(number.unwrap_or(1.0) * factor),
                Factor::Kernel(kernel) => parts.push(kernel),
            }
            if !self.accept('*') {
                break;
            }
        }
        if parts.is_empty() {
            return Err(self.unexpected("\"*\" and a kernel: a number alone is no kernel"));
        }
        let kernel = one_or(parts, KernelParams::Product);
        Ok(match number {
            Some(factor) => KernelParams::Scaled(factor, Box::new(kernel)),
            None => kernel,
        })
    }

    fn factor(&mut self, depth: usize) -> Result<Factor, Error> {
        match self.peek() {
            Some('(') if depth >= DEEPEST => {
                let (place, expected) = (self.place, format!("at most {DEEPEST} parentheses in each other"));
                Err(self.fault(place, "(", &expected, "write the kernel with fewer parentheses"))
            }
            Some('(') => {
                self.accept('(');
                let kernel = self.sum(depth + 1)?;
                if !self.accept(')') {
                    return Err(self.unexpected("\"+\", \"*\" or \")\""));
                }
                Ok(Factor::Kernel(kernel))
            }
            Some(character) if character.is_ascii_digit() || matches!(character, '.' | '-') => {
                let expected = "a number or a kernel";
                Ok(Factor::Number(self.number(expected)?))
            }
            Some(character) if character.is_ascii_alphabetic() => Ok(Factor::Kernel(self.named()?)),
            _ => Err(self.unexpected("a kernel")),
        }
    }

    fn number(&mut self, expected: &str) -> Result<f64, Error> {
        self.peek();
        let start = self.place;
        let text = self.number_text();
        match text.parse() {
            Ok(number) => Ok(number),
            Err(_) if text.is_empty() => Err(self.unexpected(expected)),
            Err(_) => Err(self.fault(start, text, expected, "write a number such as 0.5 or 1e-3")),
        }
    }

    fn named(&mut self) -> Result<KernelParams, Error> {
        let start = self.place;
        let name = self.word();
        let Some((mut kernel, keys)) = KernelParams::named(name) else {
            return Err(self.fault(start, name, "a kernel", &format!("the kernels are {NAMES}")));
        };
        if self.accept('(') && !self.accept(')') {
            let mut seen = Vec::new();
            loop {
                self.parameter(&mut kernel, keys, &mut seen)?;
                if self.accept(')') {
                    break;
                }
                if !self.accept(',') {
                    return Err(self.unexpected("\",\" or \")\""));
                }
            }
        }
        Ok(kernel)
    }

    /// Reads `key=value` into a kernel that has some of these keys.
    fn parameter(&mut self, kernel: &mut KernelParams, keys: &str, seen: &mut Vec<&'a str>) -> Result<(), Error> {
        self.peek();
        let start = self.place;
        let key = self.word();
        if key.is_empty() {
            return Err(self.unexpected(if keys.is_empty() { "\")\"" } else { keys }));
        }
        if keys.is_empty() {
            return Err(self.fault(start, key, "\")\": this kernel has no parameters", "leave the parameters out"));
        }
        if seen.contains(&key)
            || (matches!(key, "gamma" | "sigma") && seen.iter().any(|&seen| seen == "gamma" || seen == "sigma"))
        {
            let help = "give each parameter once, and only one of gamma and sigma";
            return Err(self.fault(start, key, "each parameter once", help));
        }
        seen.push(key);
        let equals = |parser: &mut Self| if parser.accept('=') { Ok(()) } else { Err(parser.unexpected("\"=\"")) };
        if let (KernelParams::Rbf { gamma }, "sigma") = (&mut *kernel, key) {
            equals(self)?;
            *gamma = Gamma::Sigma(self.number("a number")?);
        } else if let (Some(gamma), "gamma") = (kernel.gamma_mut(), key) {
            equals(self)?;
            *gamma = self.gamma()?;
        } else if let (Some(coef0), "coef0") = (kernel.coef0_mut(), key) {
            equals(self)?;
            *coef0 = self.number("a number")?;
        } else if let (Some(degree), "degree") = (kernel.degree_mut(), key) {
            equals(self)?;
            *degree = self.degree()?;
        } else {
            return Err(self.fault(start, key, keys, EXAMPLE));
        }
        Ok(())
    }

    fn degree(&mut self) -> Result<u32, Error> {
        self.peek();
        let start = self.place;
        let text = self.number_text();
        let fault = |_| self.fault(start, text, "a whole number from 1 to 100", "write a degree such as degree=2");
        text.parse().map_err(fault)
    }

    fn gamma(&mut self) -> Result<Gamma, Error> {
        self.peek();
        let start = self.place;
        if !self.rest().starts_with(|character: char| character.is_ascii_alphabetic()) {
            return Ok(Gamma::Value(self.number("a number, scale or auto")?));
        }
        match self.word() {
            "scale" => Ok(Gamma::Scale),
            "auto" => Ok(Gamma::Auto),
            other => Err(self.fault(start, other, "a number, scale or auto", EXAMPLE)),
        }
    }
}

const EXAMPLE: &str = "write a kernel such as rbf(gamma=0.5) + 2*polynomial(degree=2, coef0=1)";

/// γ as the user writes it: a number, `scale` or `auto`.
impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.trim() {
            "scale" => Ok(Gamma::Scale),
            "auto" => Ok(Gamma::Auto),
            text => text.parse().map(Gamma::Value).map_err(|_| Error::Parameter {
                parameter: Parameter::Gamma,
                found: quoted(text),
                allowed: "a number above 0, scale or auto",
            }),
        }
    }
}

/// The one part, or all of them joined.
fn one_or(mut parts: Vec<KernelParams>, join: fn(Vec<KernelParams>) -> KernelParams) -> KernelParams {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            join(parts)
        }
    }
}

/// Where the character that starts at `place` ends.
fn next_character(text: &str, place: usize) -> usize {
    place + text[place..].chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::Matrix;

    /// The kernel that a text spells, as its checked form prints itself.
    fn shown(text: &str) -> String {
        let matrix = Matrix::dense(2, 2, vec![0.0, 1.0, 2.0, 4.0]).unwrap();
        text.parse::<KernelParams>().unwrap().check(&matrix).unwrap().to_string()
    }

    fn error(text: &str) -> String {
        text.parse::<KernelParams>().unwrap_err().to_string()
    }

    #[test]
    fn every_name_reads_with_its_parameters() {
        for (text, expected) in [
            ("linear", "linear"),
            (" linear ( ) ", "linear"),
            ("rbf(gamma=0.5)", "rbf(gamma=0.5)"),
            ("gaussian( sigma = 2 )", "rbf(gamma=0.25)"),
            ("rbf(gamma=auto)", "rbf(gamma=0.5)"),
            ("poly(degree=2, coef0=-1, gamma=1)", "polynomial(gamma=1, coef0=-1, degree=2)"),
            ("polynomial(gamma=1)", "polynomial(gamma=1, coef0=0, degree=3)"),
            ("sigmoid(gamma=1e-2,coef0=+.5)", "sigmoid(gamma=0.01, coef0=0.5)"),
            ("laplacian(gamma=2)", "laplacian(gamma=2)"),
            ("chi2(gamma=1)", "chi-square(gamma=1)"),
            ("chi-square(gamma=1)", "chi-square(gamma=1)"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn products_bind_closer_than_sums_and_numbers_are_factors() {
        assert_eq!(shown("linear+2*linear*rbf(gamma=1)"), "(linear + 2 * linear * rbf(gamma=1))");
        assert_eq!(shown("2*linear*3"), "6 * linear");
        assert_eq!(shown("linear*(linear+rbf(gamma=1))"), "linear * (linear + rbf(gamma=1))");
        assert_eq!(shown("((rbf(gamma=1)))"), "rbf(gamma=1)");
        assert_eq!(shown("1e-1 * linear + 1e+1*linear"), "(0.1 * linear + 10 * linear)");
    }

    #[test]
    fn what_a_kernel_prints_reads_as_the_same_kernel() {
        for text in ["poly(degree=2, coef0=1, gamma=1) * (linear + rbf(sigma=2))", "0.1*rbf + 3*(linear + linear)"] {
            assert_eq!(shown(&shown(text)), shown(text));
        }
    }

    #[test]
    fn messages_say_the_place_and_what_is_allowed() {
        for (text, expected) in [
            ("", "character 1: found the end, expected a kernel"),
            ("cubic", "character 1: found \"cubic\", expected a kernel"),
            ("rbf(", "character 5: found the end, expected gamma or sigma"),
            ("rbf(gamma)", "character 10: found \")\", expected \"=\""),
            ("rbf(gamma=x)", "character 11: found \"x\", expected a number, scale or auto"),
            ("rbf(gamma=1..2)", "character 11: found \"1..2\", expected a number, scale or auto"),
            ("rbf(gamma=1, sigma=2)", "character 14: found \"sigma\", expected each parameter once"),
            ("rbf(gamma=1 sigma=2)", "character 13: found \"sigma\", expected \",\" or \")\""),
            ("linear(gamma=1)", "character 8: found \"gamma\", expected \")\": this kernel has no parameters"),
            ("poly(degree=2.5)", "character 13: found \"2.5\", expected a whole number from 1 to 100"),
            ("linear linear", "character 8: found \"linear\", expected \"+\", \"*\" or the end"),
            ("linear +", "character 9: found the end, expected a kernel"),
            ("linear * ,", "character 10: found \",\", expected a kernel"),
            ("2", "character 2: found the end, expected \"*\" and a kernel: a number alone is no kernel"),
            ("(linear", "character 8: found the end, expected \"+\", \"*\" or \")\""),
            ("äöü", "character 1: found \"ä\", expected a kernel"),
        ] {
            assert_eq!(error(text), format!("kernel {}, {expected}", quoted(text)), "{text}");
        }
        let help = "cubic".parse::<KernelParams>().unwrap_err().help();
        assert!(help.contains("chi-square"), "{help}");
        assert!(
            "0*linear".parse::<KernelParams>().is_ok_and(|kernel| kernel.check(&Matrix::without_columns(1)).is_err())
        );
    }

    #[test]
    fn length_and_depth_are_limited() {
        assert!(error(&"(".repeat(500)).contains("at most 20 parentheses"));
        assert!(error(&"(".repeat(5000)).contains("in 5000 bytes"));
        assert_eq!(shown(&format!("{}linear{}", "(".repeat(20), ")".repeat(20))), "linear");
    }

    #[test]
    fn gamma_reads_by_itself() {
        assert_eq!("0.5".parse(), Ok(Gamma::Value(0.5)));
        assert_eq!("auto".parse(), Ok(Gamma::Auto));
        assert_eq!(
            "much".parse::<Gamma>().unwrap_err().to_string(),
            "gamma is \"much\", but it must be a number above 0, scale or auto"
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = text.parse::<KernelParams>();
        }

        #[test]
        fn no_text_of_its_own_words_makes_it_panic(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "rbf", "linear", "poly", "(", ")", "+", "*", "-", ",", "=", "gamma", "sigma", "degree", "coef0",
                    "1", "2.5", "1e", "e5", "scale", " ", "é", ".",
                ]),
                0..30,
            )
        ) {
            let _ = words.concat().parse::<KernelParams>();
        }
    }
}
