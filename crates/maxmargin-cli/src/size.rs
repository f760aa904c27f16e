//! Amounts of memory as people write them.

use std::str::FromStr;

use maxmargin::error::quoted;

use crate::failure::Failure;

/// A number of bytes, written as `2G`, `512 MiB`, `1.5t` or `1000000`. K, KB and KiB are all 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let power = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => Some(0),
            "k" | "kb" | "kib" => Some(1),
            "m" | "mb" | "mib" => Some(2),
            "g" | "gb" | "gib" => Some(3),
            "t" | "tb" | "tib" => Some(4),
            _ => None,
        };
        let bytes = power.zip(number.trim().parse::<f64>().ok()).map(|(power, number)| number * 1024f64.powi(power));
        match bytes {
            Some(bytes) if (1.0..1e18).contains(&bytes) => Ok(Size(bytes as u64)),
            _ => Err(Failure::new(
                format!("memory is {}, but it must be a number of bytes", quoted(text)),
                "write a size such as 512M, 2G or 1.5T",
            )),
        }
    }
}

/// What a fit may use when nothing is said: half of the memory that is free, 2 GiB where that is not known.
pub(crate) fn default_memory() -> Size {
    let free = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    Size(free.map_or(2 << 30, |free| (free / 2).max(64 << 20)))
}

/// The bytes that a user grants, or what a fit may use when nothing is said.
///
/// # Errors
/// When the words are no size.
pub(crate) fn asked(words: Option<&str>) -> Result<u64, Failure> {
    Ok(words.map_or_else(|| Ok(default_memory()), str::parse)?.0)
}

/// The bytes that Linux says are available.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_with_every_unit() {
        for (text, bytes) in [
            ("1000", 1000),
            ("2G", 2 << 30),
            ("2 GiB", 2 << 30),
            ("2gb", 2 << 30),
            ("1.5K", 1536),
            ("512MiB", 512 << 20),
            ("1t", 1 << 40),
            ("1e6", 1_000_000),
        ] {
            assert_eq!(text.parse::<Size>().unwrap(), Size(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "G", "-1G", "nan", "inf", "2X", "1e40", "0", "2 G B", "0x10"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_free_memory_is_read_from_what_linux_says() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        assert_eq!(available("MemAvailable: many kB\n"), None);
    }
}
