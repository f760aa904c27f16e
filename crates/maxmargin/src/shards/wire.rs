//! Messages as bytes: numbers in little-endian order, lists with their length first, variants with their place first.
//!
//! Reading never trusts a length: a list is read item by item, and ends with `None` where the bytes do.

/// What can be written as bytes and read back.
pub(super) trait Wire: Sized {
    /// Appends the bytes.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads a value from the front, which is taken off; `None` where the bytes are none of this type.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// A value as bytes.
pub(super) fn to_bytes(value: &impl Wire) -> Vec<u8> {
    let mut out = Vec::new();
    value.put(&mut out);
    out
}

/// The value that exactly these bytes are.
pub(super) fn from_bytes<T: Wire>(mut bytes: &[u8]) -> Option<T> {
    let value = T::take(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

fn split<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(head)
}

macro_rules! wire_numbers {
    ($($kind:ty),*) => {$(
        impl Wire for $kind {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(<$kind>::from_le_bytes(split(from, size_of::<$kind>())?.try_into().ok()?))
            }
        }
    )*};
}
wire_numbers!(u8, u32, u64, f64);

impl Wire for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        usize::try_from(u64::take(from)?).ok()
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = usize::take(from)?;
        String::from_utf8(split(from, length)?.to_vec()).ok()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = usize::take(from)?;
        // An item takes a byte at least, but for those that a damaged length only claims.
        let mut items = Vec::with_capacity(length.min(from.len() / size_of::<T>().max(1) + 1));
        for _ in 0..length {
            items.push(T::take(from)?);
        }
        Some(items)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        if bool::take(from)? { T::take(from).map(Some) } else { Some(None) }
    }
}

impl<T: Wire, const N: usize> Wire for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let items: Option<Vec<T>> = (0..N).map(|_| T::take(from)).collect();
        items?.try_into().ok()
    }
}

/// A struct is its fields, one after the other.
macro_rules! wire_struct {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::shards::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::shards::wire::Wire::put(&self.$field, out);)*
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some($name { $($field: $crate::shards::wire::Wire::take(from)?),* })
            }
        }
    };
}

/// A variant is its number and its fields.
macro_rules! wire_enum {
    ($name:ident { $($number:literal => $variant:ident { $($field:tt $(: $bound:ident)?),* }),* $(,)? }) => {
        impl $crate::shards::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant { $($field $(: $bound)?),* } => {
                        out.push($number);
                        $($crate::shards::wire::wire_enum!(@put out, $field $(: $bound)?);)*
                    })*
                }
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                match u8::take(from)? {
                    $($number => Some($name::$variant { $($field: $crate::shards::wire::Wire::take(from)?),* }),)*
                    _ => None,
                }
            }
        }
    };
    (@put $out:ident, $field:tt : $bound:ident) => { $crate::shards::wire::Wire::put($bound, $out) };
    (@put $out:ident, $field:tt) => { $crate::shards::wire::Wire::put($field, $out) };
}
pub(super) use {wire_enum, wire_struct};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_a_byte_less_or_more_is_not() {
        let value = (vec![1.5, f64::NEG_INFINITY, -0.0], vec![Some("α".to_string()), None], [3u64, 4], true);
        let mut bytes = to_bytes(&value.0);
        value.1.put(&mut bytes);
        value.2.put(&mut bytes);
        value.3.put(&mut bytes);
        let mut rest = &bytes[..];
        assert_eq!(Vec::<f64>::take(&mut rest).unwrap(), value.0);
        assert_eq!(Vec::<Option<String>>::take(&mut rest).unwrap(), value.1);
        assert_eq!(<[u64; 2]>::take(&mut rest).unwrap(), value.2);
        assert_eq!(bool::take(&mut rest), Some(true));
        assert!(rest.is_empty());
        let numbers = to_bytes(&value.0);
        assert!(from_bytes::<Vec<f64>>(&numbers).is_some());
        assert!(from_bytes::<Vec<f64>>(&numbers[..numbers.len() - 1]).is_none());
        assert!(from_bytes::<Vec<f64>>(&[&numbers[..], &[0]].concat()).is_none());
    }

    #[test]
    fn a_length_that_no_bytes_follow_takes_no_memory() {
        assert!(from_bytes::<Vec<f64>>(&u64::MAX.to_le_bytes()).is_none());
        assert!(from_bytes::<String>(&u64::MAX.to_le_bytes()).is_none());
        assert!(from_bytes::<Vec<Vec<f64>>>(&[255; 64]).is_none());
    }
}
