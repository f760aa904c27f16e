//! Numbers of few digits, read in few steps and exactly; all others are left to the standard library.

use crate::read::is_blank;

/// A number of few digits, without an exponent, and the place after it.
///
/// The digits make a whole number below 2⁵³ and the divisor is at most 10¹⁹: both are exact, so the quotient is rounded
/// once and equals what the standard library reads.
#[inline]
pub(crate) fn number(line: &[u8], start: usize) -> Option<(f64, usize)> {
    const POWERS: [f64; 20] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19];
    let negative = line.get(start) == Some(&b'-');
    let first = start + usize::from(negative);
    let mut at = first;
    let mut digits = 0u64;
    while let Some(digit) = digit(line, at) {
        digits = digits.wrapping_mul(10).wrapping_add(digit);
        at += 1;
    }
    let (mut count, mut fraction) = (at - first, 0);
    if line.get(at) == Some(&b'.') {
        let point = at;
        at += 1;
        while let Some(digit) = digit(line, at) {
            digits = digits.wrapping_mul(10).wrapping_add(digit);
            at += 1;
        }
        fraction = at - point - 1;
        count += fraction;
    }
    // Nineteen digits fit in 64 bits, so up to there nothing has wrapped.
    if !(1..=19).contains(&count) || digits >= 1 << 53 || line.get(at).is_some_and(|&byte| !is_blank(byte)) {
        return None;
    }
    let value = digits as f64 / POWERS[fraction];
    Some((if negative { -value } else { value }, at))
}

/// The digit at a place, if there is one.
#[inline]
pub(crate) fn digit(line: &[u8], at: usize) -> Option<u64> {
    line.get(at).map(|byte| u64::from(byte.wrapping_sub(b'0'))).filter(|&digit| digit < 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_short_way_reads_what_it_claims_to() {
        let short = |text: &str| number(text.as_bytes(), 0).map(|(value, _)| value);
        for text in ["0", "-0", "1", "5.", ".5", "-.5", "0.1", "9007199254740991", "0.000000000000000001", "00012"] {
            assert_eq!(short(text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{text}");
        }
        for text in ["", "-", ".", "-.", "+1", "1e5", "9007199254740992", "00000000000000000001", "1x", "nan", "1.2.3"]
        {
            assert_eq!(short(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_agrees_with_the_standard_library(text in "-?[0-9]{0,12}(\\.[0-9]{0,12})?") {
            if let Some((value, end)) = number(text.as_bytes(), 0) {
                prop_assert_eq!(end, text.len());
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
        }
    }
}
