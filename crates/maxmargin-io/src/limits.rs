//! What a file may cost: bounded by its bytes, and by a constant for files that are short.
//!
//! A file says how much it holds, and a forged one says too much. Three rules keep that from costing memory or time:
//!
//! 1. A claim is compared with the bytes that are there before anything is made of it.
//! 2. Where few bytes may stand for many numbers (compressed data, runs of one value), a file of `n` bytes may hold
//!    [`FREE_NUMBERS`] + [`NUMBERS_A_BYTE`] · n numbers.
//! 3. An allocation whose size comes from a file is tried first ([`check_room`]), so that one that fails is an error.

use maxmargin::error::bytes as shown_bytes;

use crate::error::Error;
use crate::help::Help;

/// Numbers that any file may hold, however short it is: 128 MiB of doubles. More make short files more useful as an attack.
pub(crate) const FREE_NUMBERS: u64 = 1 << 24;
/// Numbers that each further byte of a file may stand for. Deflate reaches 1032 bytes a byte, and a table in which 98 of 100
/// columns are constant still needs more than a byte for 1000 numbers.
pub(crate) const NUMBERS_A_BYTE: u64 = 1000;
/// Bytes of text that any compressed file may unpack to.
const FREE_TEXT: u64 = 64 << 20;
/// Bytes of text that each byte of a compressed file may stand for: no gzip file has more than 1032.
const TEXT_A_BYTE: u64 = 1100;

/// The most numbers that a file of this size may hold.
pub(crate) fn most_numbers(file: u64) -> u64 {
    FREE_NUMBERS.saturating_add(file.saturating_mul(NUMBERS_A_BYTE))
}

/// The most bytes that numbers and labels of a file of this size may take once they are unpacked.
pub(crate) fn most_bytes(file: u64) -> u64 {
    most_numbers(file).saturating_mul(8)
}

/// The most bytes of text that a compressed file of this size may hold.
pub(crate) fn most_text(file: u64) -> u64 {
    FREE_TEXT.saturating_add(file.saturating_mul(TEXT_A_BYTE))
}

/// The error of a file that holds more than a file of its length may.
#[cold]
pub(crate) fn too_much(origin: &str, what: &str, help: impl Into<Help>) -> Error {
    Error::Limit {
        path: origin.into(),
        what: format!("the file stands for {what}, which is more than a file of its length may"),
        help: help.into(),
    }
}

/// Checks that there is memory for this number of values of a type.
///
/// # Errors
/// When the system refuses the memory.
pub(crate) fn check_room<T>(origin: &str, count: usize) -> Result<(), Error> {
    let mut tried: Vec<T> = Vec::new();
    tried.try_reserve_exact(count).map_err(|_| Error::Limit {
        path: origin.into(),
        what: match count.checked_mul(size_of::<T>()) {
            Some(bytes) => format!("{} of memory are needed, which the system refuses", shown_bytes(bytes as u64)),
            None => "more memory is needed than there can be".into(),
        },
        help: "give fewer rows or columns, or use a machine with more memory".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_the_system_refuses_is_an_error_and_no_abort() {
        assert!(check_room::<u8>("f", 100).is_ok());
        let error = check_room::<f64>("f", isize::MAX as usize / 8).unwrap_err();
        assert!(error.to_string().ends_with("of memory are needed, which the system refuses"), "{error}");
        assert!(check_room::<f64>("f", usize::MAX).is_err());
    }

    #[test]
    fn limits_do_not_overflow() {
        assert_eq!((most_numbers(0), most_numbers(2)), (1 << 24, (1 << 24) + 2000));
        assert_eq!((most_numbers(u64::MAX), most_bytes(u64::MAX), most_text(u64::MAX)), (u64::MAX, u64::MAX, u64::MAX));
    }
}
