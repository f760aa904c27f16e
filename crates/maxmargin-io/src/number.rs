//! Numbers of up to nineteen digits, read in few steps and exactly; all others are left to the standard library.
//!
//! Eight bytes are read together: how many of them are digits, and the value of these, without a branch for each. A text is followed by
//! [`PADDING`] bytes, so that eight bytes can be read from any place of it.

/// How many bytes must follow a text.
pub(crate) const PADDING: usize = 32;

const POWERS: [f64; 20] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19];

const WHOLE_POWERS: [u64; 20] = {
    let (mut table, mut k) = ([1; 20], 1);
    while k < 20 {
        table[k] = 10 * table[k - 1];
        k += 1;
    }
    table
};

/// Eight bytes of a text, the first one in the lowest bits; zeros where the text and its padding end.
#[inline]
pub(crate) fn eight(text: &[u8], at: usize) -> u64 {
    match text.get(at..at + 8) {
        Some(bytes) => {
            u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]])
        }
        None => 0,
    }
}

/// How many of eight bytes are digits before the first one that is none.
#[inline]
pub(crate) fn leading_digits(bytes: u64) -> usize {
    // A digit becomes 0 to 9. Adding 0x76 sets the highest bit of all others below 128; where it carries over, the byte
    // that it comes from has been found already.
    let digits = bytes ^ 0x3030_3030_3030_3030;
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    others.trailing_zeros() as usize / 8
}

/// The value of the first `count` of eight bytes, which are digits; `count` is 1 to 8.
#[inline]
pub(crate) fn digits_value(bytes: u64, count: usize) -> u64 {
    // Zeros in front change nothing.
    joined((bytes ^ 0x3030_3030_3030_3030) << (64 - 8 * count))
}

/// The value of eight digits, each a byte of 0 to 9, the first one in the lowest.
#[inline]
fn joined(digits: u64) -> u64 {
    // Neighbours are joined: digits to pairs, pairs to fours and eight.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let high = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let low = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    high.wrapping_add(low) >> 32
}

/// The digits at a place behind `value`: their value, and how many they are. Nineteen in all fit in 64 bits.
#[inline]
fn digits(text: &[u8], start: usize, mut value: u64) -> (u64, usize) {
    let mut at = start;
    loop {
        let bytes = eight(text, at);
        let count = leading_digits(bytes);
        if count > 0 {
            value = value.wrapping_mul(WHOLE_POWERS[count]).wrapping_add(digits_value(bytes, count));
        }
        at += count;
        if count < 8 {
            return (value, at - start);
        }
    }
}

/// The value of up to eight digits that end before a place, at least eight bytes into the text.
#[inline]
fn digits_before(text: &[u8], end: usize, count: usize) -> u64 {
    let used = u64::MAX << (32 - 4 * count) << (32 - 4 * count);
    joined((eight(text, end - 8) ^ 0x3030_3030_3030_3030) & used)
}

/// `⌊2^(63+e)/10^k⌋`, of 64 bits, and e, for k from 0 to 19.
const RECIPROCALS: [(u64, u32); 20] = {
    let (mut table, mut k, mut power) = ([(0, 0); 20], 0, 1u64);
    while k < 20 {
        let e = if k == 0 { 0 } else { 64 - power.leading_zeros() };
        table[k] = (((1u128 << (63 + e)) / power as u128) as u64, e);
        k += 1;
        // 10²⁰ is not needed, and would not fit.
        power = power.wrapping_mul(10);
    }
    table
};

/// `whole / 10^k` of a whole number above 0, rounded once. `None` for about one in two hundred numbers, whose rounding needs more bits.
///
/// The reciprocal is too small by less than 1 in its last place, so the product with the whole number, of 64 bits, is too small by less
/// than 3 in the last place of its own upper half t:
///
/// ```text
/// t ≤ 2^s whole / 10^k < t + 3                                                   (RD.1)
/// ```
///
/// Of t the upper 53 bits are the number's; the rest decides how it is rounded, unless half lies between the two.
#[inline]
fn quotient(whole: u64, k: usize) -> Option<f64> {
    let (reciprocal, e) = RECIPROCALS[k];
    let zeros = whole.leading_zeros();
    let product = u128::from(whole << zeros) * u128::from(reciprocal);
    let shift = product.leading_zeros();
    let t = ((product << shift) >> 64) as u64; // (RD.1)
    let (mantissa, rest) = (t >> 11, t & 0x7ff);
    if (0x3fd..=0x400).contains(&rest) {
        return None;
    }
    let mantissa = mantissa + u64::from(rest > 0x400);
    let exponent = 12 - i64::from(shift) - i64::from(zeros) - i64::from(e);
    // Both are exact: a whole number of up to 2⁵³, and a power of two that is far from the ends of the range.
    Some(mantissa as f64 * f64::from_bits(((1023 + exponent) as u64) << 52))
}

/// A number of up to nineteen digits, without an exponent, and the place after it, where `is_end` holds.
///
/// It is rounded once, by [`scaled`], and so equals what the standard library reads.
#[inline]
pub(crate) fn number(text: &[u8], start: usize, is_end: impl Fn(u8) -> bool) -> Option<(f64, usize)> {
    let negative = text.get(start) == Some(&b'-');
    let first = start + usize::from(negative);
    let (mut whole, mut count) = digits(text, first, 0);
    let mut at = first + count;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        (whole, fraction) = digits(text, at + 1, whole);
        count += fraction;
        at += 1 + fraction;
    }
    // Nineteen digits fit in 64 bits, so up to there nothing has wrapped.
    if !(1..=19).contains(&count) || !text.get(at).is_some_and(|&byte| is_end(byte)) {
        return None;
    }
    let value = scaled(whole, fraction)?;
    Some((if negative { -value } else { value }, at))
}

/// A whole number divided by a power of ten of up to nineteen zeros, rounded once. `None` where [`quotient`] cannot tell.
///
/// A whole number below 2⁵³ and the divisor are exact, so their quotient is rounded once.
#[inline]
fn scaled(whole: u64, fraction: usize) -> Option<f64> {
    let exact = whole < 1 << 53;
    match fraction {
        0 => Some(whole as f64),
        // As good as always.
        1..=15 if exact => Some(whole as f64 / POWERS[fraction]),
        _ if whole == 0 => Some(0.0),
        _ => quotient(whole, fraction).or_else(|| exact.then(|| whole as f64 / POWERS[fraction])),
    }
}

/// The places of a number in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits {
    /// Of its first digit.
    pub(crate) start: usize,
    /// Of its point, or of its end where there is none.
    pub(crate) point: usize,
    /// After its last digit.
    pub(crate) end: usize,
}

/// Bytes that have to be before the end of a number for [`known_number`].
pub(crate) const BEFORE: usize = 24;

/// [`number`] of digits whose places are known, with nothing but the point between them. `None` where [`number`] has to read it.
#[inline]
pub(crate) fn known_number(text: &[u8], Digits { start, point, end }: Digits) -> Option<f64> {
    let (before, fraction) = (point - start, (end - point).saturating_sub(1));
    if end < BEFORE || !(1..=8).contains(&before) || before + fraction > 19 {
        return None;
    }
    let behind = match fraction {
        0..=8 => digits_before(text, end, fraction),
        _ => {
            let eights = |before: usize| digits_before(text, end - before, fraction.saturating_sub(before).min(8));
            eights(0) + eights(8) * WHOLE_POWERS[8] + eights(16) * WHOLE_POWERS[16]
        }
    };
    let first = digits_value(eight(text, start), before);
    scaled(first * WHOLE_POWERS[fraction] + behind, fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number that a text is, with its padding.
    fn short(text: &str) -> Option<f64> {
        let mut padded = text.as_bytes().to_vec();
        padded.push(b'\n');
        // Digits, so that reading too far would show.
        padded.extend([b'7'; PADDING]);
        number(&padded, 0, |byte| byte == b'\n').map(|(value, end)| {
            assert_eq!(end, text.len());
            value
        })
    }

    /// [`known_number`] of a text by itself, if it has the form that is read there.
    fn known(text: &str) -> Option<f64> {
        let filled = format!("{}{text}{}", "8".repeat(BEFORE), "7".repeat(PADDING));
        let digits = text.strip_prefix('-').unwrap_or(text);
        let start = BEFORE + text.len() - digits.len();
        let point = start + digits.find('.').unwrap_or(digits.len());
        let end = BEFORE + text.len();
        let is_form =
            digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && digits.matches('.').count() < 2;
        let value = is_form.then(|| known_number(filled.as_bytes(), Digits { start, point, end }))??;
        Some(if start > BEFORE { -value } else { value })
    }

    #[test]
    fn the_short_way_reads_what_it_claims_to() {
        let long = [
            "9007199254740992",
            "9007199254740993",
            "9999999999999999999",
            "0.09858086563496755",
            "1797.693134862315708",
        ];
        let short_ones =
            ["0", "-0", "1", "5.", ".5", "-.5", "0.1", "9007199254740991", "0.000000000000000001", "00012"];
        for text in long.into_iter().chain(short_ones) {
            assert_eq!(short(text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{text}");
        }
        for text in ["", "-", ".", "-.", "+1", "1e5", "00000000000000000001", "1x", "nan", "1.2.3"] {
            assert_eq!(short(text), None, "{text}");
        }
    }

    #[test]
    fn each_byte_is_a_digit_or_not_at_each_place() {
        for place in 0..8 {
            for byte in 0..=255u8 {
                let mut text = *b"12345678";
                text[place] = byte;
                let expected = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(8);
                assert_eq!(leading_digits(u64::from_le_bytes(text)), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn without_padding_nothing_is_read_beyond_the_text() {
        assert_eq!(number(b"1234", 0, |_| true), None);
        assert_eq!(number(b"", 5, |_| true), None);
    }

    /// A million numbers as files hold them, each compared with the standard library.
    #[test]
    fn a_million_numbers_are_those_of_the_standard_library() {
        use std::fmt::Write;
        let seed = 0x5eed_0000_0001u64;
        println!("seed {seed:#x}");
        let mut state = seed;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (mut text, mut by_the_short_way, mut long, mut by_known_ends) = (String::new(), 0, 0, 0);
        for _ in 0..1_000_000 {
            text.clear();
            let (sign, whole, fraction) = (random() % 3, random() % 20, random() % 20);
            let digits = random() % 10u64.pow(whole as u32 % 20);
            let after = random() % 10u64.pow(fraction as u32 % 20);
            text.push_str(if sign == 0 { "-" } else { "" });
            let width = fraction as usize;
            let written = match random() % 4 {
                0 => write!(text, "{digits}"),
                1 => write!(text, "{digits}.{after:0width$}"),
                2 => write!(text, "0.{after:0width$}"),
                _ => write!(text, "{}", f64::from_bits(random()) % 1e3),
            };
            assert!(written.is_ok());
            if let Some(value) = known(&text) {
                by_known_ends += 1;
                assert_eq!(Ok(value.to_bits()), text.parse().map(f64::to_bits), "{text}, seed {seed:#x}");
            }
            if let Some(value) = short(&text) {
                by_the_short_way += 1;
                long += usize::from(text.len() > 18);
                assert_eq!(Ok(value.to_bits()), text.parse().map(f64::to_bits), "{text}, seed {seed:#x}");
            }
        }
        assert!(by_known_ends > 400_000, "only {by_known_ends}, seed {seed:#x}");
        assert!(by_the_short_way > 500_000 && long > 50_000, "only {by_the_short_way} and {long}, seed {seed:#x}");
    }

    proptest! {
        #[test]
        fn the_short_way_agrees_with_the_standard_library(text in "-?[0-9]{0,12}(\\.[0-9]{0,12})?") {
            for value in [short(&text), known(&text)].into_iter().flatten() {
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
        }

        #[test]
        fn digits_have_their_value(number in 0u64..100_000_000) {
            let text = format!("{number:8}").replace(' ', "0");
            let bytes = eight(text.as_bytes(), 0);
            for count in 1..=8 {
                prop_assert_eq!(digits_value(bytes, count), text[..count].parse::<u64>().unwrap());
            }
        }
    }
}
