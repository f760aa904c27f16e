//! Whether there is memory, asked before it is used: an allocation that fails ends a program.

use crate::error::Error;

/// Bytes below which nobody is asked: what is this small is there, or everything fails.
const SMALL: u64 = 64 << 20;

/// Checks that a need is within a budget, and that the system would grant it. Nothing is kept: whoever allocates next gets it.
///
/// # Errors
/// When it is not, with both numbers, or with the way out `help`.
pub(crate) fn check_room(what: impl FnOnce() -> String, need: u64, budget: u64, help: &str) -> Result<(), Error> {
    if need > budget {
        return Err(Error::Memory { what: what(), need, budget });
    }
    let is_there =
        need < SMALL || usize::try_from(need).is_ok_and(|need| Vec::<u8>::new().try_reserve_exact(need).is_ok());
    if is_there { Ok(()) } else { Err(Error::Refused { what: what(), need, help: help.into() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_is_an_error_with_the_number_and_a_way_out() {
        let check = |need, budget| check_room(|| "a matrix".into(), need, budget, "give fewer columns");
        assert!(check(1 << 20, 1 << 20).is_ok() && check(SMALL, u64::MAX).is_ok());
        assert!(matches!(check(2, 1), Err(Error::Memory { need: 2, budget: 1, .. })));
        for need in [i64::MAX as u64, u64::MAX] {
            let error = check(need, u64::MAX).unwrap_err();
            assert!(error.to_string().ends_with("of memory, which the system refuses"), "{error}");
            assert_eq!(error.help(), "give fewer columns");
        }
    }
}
