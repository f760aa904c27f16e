//! An axis: its range, its ticks, and numbers as people write them.

use super::text;

/// A tick: its place on the axis, from 0 to 1, and its text.
pub(crate) type Tick = (f64, String);

/// From where to where an axis reaches, in the user's own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    /// The range of some numbers with a little air around it; `None` for no numbers.
    pub(crate) fn around(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = numbers
            .into_iter()
            .filter(|number| number.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
        if low > high {
            return None;
        }
        let air = if low < high {
            high * AIR - low * AIR // may not overflow
        } else if low.abs() > 1e-300 {
            low.abs() * AIR
        } else {
            1.0
        };
        Some(Range { low: (low - air).max(-f64::MAX), high: (high + air).min(f64::MAX) })
    }

    /// A range from one number to another; a little around it where they are the same.
    pub(crate) fn exactly(low: f64, high: f64) -> Self {
        if low < high { Range { low, high } } else { Range { low: low - 0.5, high: low + 0.5 } }
    }

    /// The range with this many times its width, around the same middle.
    pub(crate) fn widened(self, factor: f64) -> Self {
        let (middle, half) = (self.low / 2.0 + self.high / 2.0, (self.high / 2.0 - self.low / 2.0) * factor);
        Range { low: (middle - half).max(-f64::MAX), high: (middle + half).min(f64::MAX) }
    }

    /// The number at a place from 0 to 1.
    pub(crate) fn at(&self, place: f64) -> f64 {
        self.low * (1.0 - place) + self.high * place
    }

    /// The place of a number, 0 at the low end and 1 at the high one.
    pub(crate) fn place(&self, number: f64) -> f64 {
        let span = self.high - self.low;
        if span.is_finite() {
            (number - self.low) / span
        } else {
            (number / 4.0 - self.low / 4.0) / (self.high / 4.0 - self.low / 4.0)
        }
    }

    /// Ticks at round numbers, at most about `most` of them: the number's place and its text.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let step = round_step((self.high / 4.0 - self.low / 4.0) / most.max(2) as f64 * 4.0);
        let first = (self.low / step).ceil();
        if !(step > 0.0 && step.is_finite() && first.is_finite()) {
            return Vec::new();
        }
        let mut ticks: Vec<(f64, f64)> = Vec::new();
        for k in 0..2 * most.max(2) {
            let number = (first + k as f64) * step;
            let place = self.place(number);
            // Where the range is a few units in the last place, steps may not move at all.
            let moved = ticks.last().is_none_or(|&(_, last)| place > last);
            if (0.0..=1.0).contains(&place) && moved {
                ticks.push((number, place));
            }
        }
        ticks.into_iter().map(|(number, place)| (place, tick_text(number, step))).collect()
    }
}

/// The share of the range that is left free at each end.
const AIR: f64 = 0.07;

/// The least of 1, 2, 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].iter().map(|factor| factor * power).find(|&step| step >= least).unwrap_or(10.0 * power)
}

/// A number of an axis with as many digits as its steps need.
fn tick_text(number: f64, step: f64) -> String {
    let number = if number.abs() < step / 1e3 { 0.0 } else { number };
    let largest = number.abs().max(step);
    let text = if (1e-4..1e6).contains(&largest) && step >= 1e-5 {
        let decimals = (-(step * 1.0001).log10().floor()).max(0.0) as usize;
        format!("{number:.decimals$}")
    } else if number == 0.0 {
        "0".into()
    } else {
        let digits = (number.abs().log10().floor() - (step * 1.0001).log10().floor()).clamp(0.0, 16.0) as usize;
        format!("{number:.digits$e}")
    };
    text.replace('-', "−")
}

/// A number in at most four digits.
pub(crate) fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string().replace('-', "−");
    }
    let exponent = number.abs().log10().floor();
    let trimmed = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text.to_string() }
    };
    let text = if (-4.0..6.0).contains(&exponent) {
        let decimals = (3.0 - exponent).max(0.0) as usize;
        trimmed(&format!("{number:.decimals$}"))
    } else {
        let text = format!("{number:.1e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{exponent}", trimmed(digits))
    };
    text.replace('-', "−")
}

/// An axis: what it is called, how far it reaches, and how numbers lie on it.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) title: String,
    pub(crate) range: Range,
    marks: Marks,
}

/// How an axis is divided.
#[derive(Clone, Debug)]
enum Marks {
    /// Evenly, at round numbers.
    Even,
    /// By powers of ten: the range holds logarithms.
    Powers,
    /// At these places, with these names.
    Named(Vec<(f64, String)>),
}

impl Axis {
    /// An axis of even steps. Its title is the user's, and made safe.
    pub(crate) fn new(title: &str, range: Range) -> Self {
        Axis { title: text::safe(title), range, marks: Marks::Even }
    }

    /// An axis of powers of ten around some numbers above 0; others have no place on it.
    pub(crate) fn powers(title: &str, numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let logarithms = numbers.into_iter().filter(|&number| number > 0.0).map(f64::log10);
        let range = Range::around(logarithms)?;
        let range =
            if range.high - range.low < 0.5 { Range { low: range.low - 0.5, high: range.high + 0.5 } } else { range };
        Some(Axis { title: text::safe(title), range, marks: Marks::Powers })
    }

    /// An axis with names at some places.
    pub(crate) fn named(title: &str, range: Range, names: Vec<(f64, String)>) -> Self {
        Axis { title: text::safe(title), range, marks: Marks::Named(names) }
    }

    /// The axis over another range.
    pub(crate) fn over(self, range: Range) -> Self {
        Axis { range, ..self }
    }

    /// The place of a number, 0 at the low end and 1 at the high one.
    pub(crate) fn place(&self, number: f64) -> f64 {
        match self.marks {
            // Nothing is below the end of a logarithmic axis.
            Marks::Powers if number > 0.0 => self.range.place(number.log10()),
            Marks::Powers => 0.0,
            _ => self.range.place(number),
        }
    }

    /// Ticks: the place of each, and its text.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        match &self.marks {
            Marks::Even => self.range.ticks(most),
            Marks::Named(names) => {
                names.iter().map(|(number, name)| (self.range.place(*number), name.clone())).collect()
            }
            Marks::Powers => {
                let (first, last) = (self.range.low.ceil() as i64, self.range.high.floor() as i64);
                let step = ((last - first).max(0) as usize / most.max(2) + 1) as i64;
                let first = (first as f64 / step as f64).ceil() as i64 * step;
                (first..=last)
                    .step_by(step as usize)
                    .map(|power| (self.range.place(power as f64), power_of_ten(power)))
                    .collect()
            }
        }
    }

    /// The most ticks, side by side in some room, whose texts of a size keep apart.
    pub(crate) fn ticks_across(&self, room: f64, size: f64) -> Vec<Tick> {
        let apart = |ticks: &Vec<Tick>| {
            let width = |k: usize| text::width(&ticks[k].1, size);
            (1..ticks.len())
                .all(|k| (ticks[k].0 - ticks[k - 1].0).abs() * room > (width(k) + width(k - 1)) / 2.0 + 14.0)
        };
        let most = ((room / 40.0) as usize).clamp(2, 9);
        let found = (1..=most).rev().map(|most| self.ticks(most)).find(apart);
        found.unwrap_or_else(|| match &self.marks {
            // Every second, third, ... name where there is no room for all.
            Marks::Named(_) => {
                let all = self.ticks(0);
                let every = |step: usize| all.iter().step_by(step).cloned().collect::<Vec<_>>();
                (2..=all.len()).map(every).find(apart).unwrap_or_default()
            }
            _ => Vec::new(),
        })
    }
}

/// 10 to some power, as people write it: 0.01, 1, 1000, 10⁶.
fn power_of_ten(power: i64) -> String {
    match power {
        0..=4 => format!("{}", 10u32.pow(power as u32)),
        -3..0 => format!("{:.*}", -power as usize, 10f64.powi(power as i32)),
        _ => {
            let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().collect::<Vec<_>>();
            let raised = |digit: char| digit.to_digit(10).map_or('⁻', |digit| digits[digit as usize]);
            format!("10{}", power.to_string().chars().map(raised).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(numbers: &[f64]) -> Vec<String> {
        Range::around(numbers.iter().copied()).unwrap().ticks(6).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(&[0.5, 5.5]), ["1", "2", "3", "4", "5"]);
        assert_eq!(texts(&[-0.5, 0.5]), ["−0.4", "−0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(texts(&[0.0, 3e9]), ["0", "1e9", "2e9", "3e9"]);
    }

    #[test]
    fn no_range_is_too_small_or_too_large() {
        let cases: [&[f64]; 9] = [
            &[0.0],
            &[5.0, 5.0],
            &[1e150, -1e150],
            &[f64::MAX, -f64::MAX],
            &[1e16, 1e16 + 2.0],
            &[5e-324],
            &[5e-324, 0.0],
            &[1e300, 1e300],
            &[f64::MAX],
        ];
        for numbers in cases {
            let range = Range::around(numbers.iter().copied()).unwrap();
            let ticks = range.ticks(6);
            assert!(ticks.len() < 13, "{numbers:?}: {ticks:?}");
            for &number in numbers {
                assert!((0.0..=1.0).contains(&range.place(number)), "{numbers:?}");
            }
            assert!((0..=10).all(|k| range.at(f64::from(k) / 10.0).is_finite()), "{numbers:?}");
        }
        assert_eq!(Range::around([]), None);
        assert_eq!(Range::around([f64::NAN]), None);
    }

    #[test]
    fn powers_of_ten_are_written_as_people_do() {
        assert_eq!([-12, -2, 0, 3, 6].map(power_of_ten), ["10⁻¹²", "0.01", "1", "1000", "10⁶"]);
        let axis = Axis::powers("gap", [1e-9, 1e3, 0.0, -1.0]).unwrap();
        let ticks = axis.ticks(6);
        assert!((4..=7).contains(&ticks.len()), "{ticks:?}");
        assert!(ticks.iter().all(|(place, _)| (0.0..=1.0).contains(place)), "{ticks:?}");
        assert_eq!(axis.place(-5.0), 0.0);
        assert!(Axis::powers("gap", [0.0, f64::NAN]).is_none());
    }

    #[test]
    fn ticks_side_by_side_keep_apart() {
        let names = (0..30).map(|k| (f64::from(k), format!("class number {k}"))).collect();
        let axis = Axis::named("", Range::exactly(0.0, 29.0), names);
        let ticks = axis.ticks_across(400.0, 12.0);
        assert!((2..6).contains(&ticks.len()), "{ticks:?}");
        assert!(Axis::new("", Range::exactly(0.0, 1e-7)).ticks_across(300.0, 12.0).len() >= 2);
    }

    #[test]
    fn short_numbers_have_four_digits_at_most() {
        let shown = [1.0, 0.25, 1234.5678, -0.000123456, 1e150, 4.44e-16, 0.0, 123456.0].map(short);
        assert_eq!(shown, ["1", "0.25", "1235", "−0.0001235", "1e150", "4.4e−16", "0", "123456"]);
    }
}
