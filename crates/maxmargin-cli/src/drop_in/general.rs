//! Numbers as C's `%g` prints them.

/// A number with so many significant digits, without zeros at the end; with an exponent where it is below -4 or not below the digits.
pub(super) fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { format!("{value}") };
    }
    let scientific = format!("{value:.*e}", digits.max(1) - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text.to_string() }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
}

/// `%g`
pub(super) fn g(value: f64) -> String {
    general(value, 6)
}

/// `%.17g`
pub(super) fn g17(value: f64) -> String {
    general(value, 17)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_c_does() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (86.296_296_296, "86.2963"),
            (100.0, "100"),
            (0.000_488_281_25, "0.000488281"),
            (1e-5, "1e-05"),
            (123_456_789.0, "1.23457e+08"),
            (999_999.5, "1e+06"),
            (1_000_000.0, "1e+06"),
            (0.1, "0.1"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(g(value), text);
        }
        assert_eq!(g17(0.1), "0.10000000000000001");
        assert_eq!(g17(1.0 / 13.0), "0.076923076923076927");
        assert_eq!(g17(-3.0), "-3");
    }
}
