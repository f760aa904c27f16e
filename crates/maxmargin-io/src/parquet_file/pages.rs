//! Checks of a column's pages before they are unpacked.
//!
//! The head of a page claims how many bytes it unpacks to, and how many values it has. The Parquet library takes memory for
//! both before it has seen them, so they are compared with the bytes that are there first.
//!
//! ```text
//! chunk = page ...           page = head  packed bytes
//! head  = a struct in Thrift's compact form: 2: unpacked size, 3: packed size, 7: { 1: values of a dictionary }
//! ```

use std::io::Read;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;

/// What is wrong with a page.
pub(super) type Fault = String;

/// The most bytes of a page's head.
const MOST_HEAD: u64 = 1 << 20;
/// How deep structs may lie in each other.
const MOST_DEPTH: usize = 16;

/// What the head of a page says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Head {
    unpacked: i64,
    packed: i64,
    /// Values of a dictionary.
    values: Option<i64>,
}

/// The number of bytes that all pages of a chunk of `length` bytes claim to unpack to. `read` reads from a place in the chunk on.
///
/// # Errors
/// When a head does not read, or claims what cannot be.
pub(super) fn unpacked_bytes<R: Read>(
    length: u64,
    most: u64,
    mut read: impl FnMut(u64) -> Result<R, Fault>,
) -> Result<u64, Fault> {
    let (mut at, mut sum) = (0u64, 0u64);
    while at < length {
        let mut bytes = Bytes { source: read(at)?.take(MOST_HEAD.min(length - at)), taken: 0 };
        let head = bytes.head()?;
        let (Ok(packed), Ok(unpacked)) = (u64::try_from(head.packed), u64::try_from(head.unpacked)) else {
            return Err("a page of a negative size".into());
        };
        // A value of a dictionary takes a byte at least.
        if head.values.is_some_and(|values| u64::try_from(values).is_ok_and(|values| values > unpacked)) {
            return Err("a dictionary of more values than bytes".into());
        }
        sum = sum.saturating_add(unpacked);
        if sum > most {
            return Ok(sum);
        }
        at = at.saturating_add(bytes.taken).saturating_add(packed);
    }
    Ok(sum)
}

/// Reads Thrift's compact form, as far as heads of pages need it.
struct Bytes<R> {
    source: R,
    taken: u64,
}

impl<R: Read> Bytes<R> {
    fn byte(&mut self) -> Result<u8, Fault> {
        let mut byte = [0];
        self.source.read_exact(&mut byte).map_err(|_| "the head of a page is cut")?;
        self.taken += 1;
        Ok(byte[0])
    }

    /// A whole number in groups of 7 bits, the lowest first.
    fn number(&mut self) -> Result<u64, Fault> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number of more than 64 bits".into())
    }

    /// A number with a sign, which is its lowest bit.
    fn signed(&mut self) -> Result<i64, Fault> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn skip_bytes(&mut self, count: u64) -> Result<(), Fault> {
        let skipped = std::io::copy(&mut self.source.by_ref().take(count), &mut std::io::sink());
        self.taken = self.taken.saturating_add(count);
        match skipped {
            Ok(skipped) if skipped == count => Ok(()),
            _ => Err("the head of a page is cut".into()),
        }
    }

    /// The fields of a struct: `field` takes the number and type of each, and reads or skips it.
    fn fields(&mut self, mut field: impl FnMut(&mut Self, i64, u8) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut number = 0;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Ok(());
            }
            number = match byte >> 4 {
                0 => self.signed()?,
                step => number + i64::from(step),
            };
            field(self, number, byte & 0x0f)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), Fault> {
        if depth > MOST_DEPTH {
            return Err("the head of a page is too deep".into());
        }
        match kind {
            // true and false, which are in the type
            1 | 2 => Ok(()),
            3 => self.skip_bytes(1),
            4..=6 => self.number().map(drop),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.number()?;
                self.skip_bytes(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.number()? } else { u64::from(byte >> 4) };
                match byte & 0x0f {
                    // In a list these take a byte each.
                    1 | 2 => self.skip_bytes(count),
                    kind => (0..count).try_for_each(|_| self.skip(kind, depth + 1)),
                }
            }
            12 => self.fields(|bytes, _, kind| bytes.skip(kind, depth + 1)),
            _ => Err("the head of a page does not read".into()),
        }
    }

    fn head(&mut self) -> Result<Head, Fault> {
        let mut head = Head::default();
        self.fields(|bytes, number, kind| {
            match (number, kind) {
                (2, 4..=6) => head.unpacked = bytes.signed()?,
                (3, 4..=6) => head.packed = bytes.signed()?,
                (7, 12) => bytes.fields(|bytes, number, kind| match (number, kind) {
                    (1, 4..=6) => {
                        head.values = Some(bytes.signed()?);
                        Ok(())
                    }
                    _ => bytes.skip(kind, 1),
                })?,
                _ => bytes.skip(kind, 0)?,
            }
            Ok(())
        })?;
        Ok(head)
    }
}

/// Hands pages on whose counts fit to their bytes.
pub(super) struct Checked {
    pub(super) pages: Box<dyn PageReader>,
    /// The rows of the group: no page has more values.
    pub(super) rows: u64,
    /// Whether values may be missing, so that a page begins with levels.
    pub(super) has_levels: bool,
    /// Whether the column has said that texts may share their beginnings.
    pub(super) shares_beginnings: bool,
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.pages.get_next_page()?;
        if let Some(what) = page.as_ref().and_then(|page| self.fault(page)) {
            return Err(ParquetError::General(what.into()));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.pages.skip_next_page()
    }
}

impl Iterator for Checked {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl Checked {
    /// What is wrong with counts for which the library takes memory at once.
    fn fault(&self, page: &Page) -> Option<&'static str> {
        let (bytes, values): (&[u8], u64) = (page.buffer(), page.num_values().into());
        if page.is_dictionary_page() {
            return (values > bytes.len() as u64).then_some("a dictionary of more values than bytes");
        }
        if values > self.rows {
            return Some("a page of more values than rows");
        }
        // Texts come after lists of lengths, which say themselves how many there are.
        let lists = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY if self.shares_beginnings => 2,
            Encoding::DELTA_BYTE_ARRAY => return Some("an encoding that its column does not name"),
            _ => 0,
        };
        let mut rest = Bytes { source: bytes, taken: 0 };
        if lists > 0 && self.skip_levels(page, &mut rest).is_err() {
            return Some("a page whose levels do not read");
        }
        for list in 0..lists {
            match rest.list_of_lengths(list + 1 < lists) {
                Ok(count) if count <= values => {}
                _ => return Some("a page of more lengths than values"),
            }
        }
        None
    }

    fn skip_levels(&self, page: &Page, rest: &mut Bytes<&[u8]>) -> Result<(), Fault> {
        let length = match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)
            }
            Page::DataPage { def_level_encoding: Encoding::RLE, .. } if self.has_levels => {
                let length = [rest.byte()?, rest.byte()?, rest.byte()?, rest.byte()?];
                u32::from_le_bytes(length).into()
            }
            _ if self.has_levels => return Err("levels in an encoding that is not used any more".into()),
            _ => 0,
        };
        rest.skip_bytes(length)
    }
}

impl Bytes<&[u8]> {
    /// Reads how many numbers a list in the encoding DELTA_BINARY_PACKED has, and goes to its end where that is asked for.
    fn list_of_lengths(&mut self, to_the_end: bool) -> Result<u64, Fault> {
        let (block, parts, count, _) = (self.number()?, self.number()?, self.number()?, self.number()?);
        let mut left = count.saturating_sub(1);
        let values = block.checked_div(parts).unwrap_or(0);
        while to_the_end && left > 0 {
            if values == 0 {
                return Err("a block of no values".into());
            }
            self.number()?;
            let widths = (0..parts).map(|_| self.byte()).collect::<Result<Vec<u8>, Fault>>()?;
            for width in widths {
                // What comes after the last value is not there.
                if left > 0 {
                    self.skip_bytes((u64::from(width) * values).div_ceil(8))?;
                    left = left.saturating_sub(values);
                }
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of a page: 1: 2 (a dictionary), 2: unpacked, 3: packed, 7: { 1: values, 2: 0 }.
    fn head(unpacked: i64, packed: i64, values: i64) -> Vec<u8> {
        let mut bytes = vec![0x15, 4, 0x15];
        let put = |bytes: &mut Vec<u8>, number: i64| {
            let mut number = ((number << 1) ^ (number >> 63)) as u64;
            while number > 0x7f {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        };
        put(&mut bytes, unpacked);
        bytes.push(0x15);
        put(&mut bytes, packed);
        bytes.extend([0x4c, 0x15]);
        put(&mut bytes, values);
        bytes.extend([0x15, 0, 0, 0]);
        bytes
    }

    fn sum(chunk: &[u8]) -> Result<u64, Fault> {
        unpacked_bytes(chunk.len() as u64, u64::MAX, |at| Ok(&chunk[at as usize..]))
    }

    #[test]
    fn what_pages_claim_is_added_up() {
        let one = [head(100, 3, 5), b"abc".to_vec()].concat();
        assert_eq!(sum(&one), Ok(100));
        assert_eq!(sum(&[one.clone(), one].concat()), Ok(200));
        assert_eq!(sum(&[]), Ok(0));
    }

    #[test]
    fn forged_heads_of_pages_are_refused() {
        assert!(sum(&head(-1, 3, 5)).is_err() && sum(&head(1, -3, 0)).is_err());
        assert_eq!(sum(&head(4, 0, 5)).unwrap_err(), "a dictionary of more values than bytes");
        let whole = head(100, 0, 5);
        (1..whole.len()).for_each(|length| assert!(sum(&whole[..length]).is_err(), "{length}"));
        // A list of 2^63 truths, a text of 2^62 bytes, structs in structs in structs.
        let long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        assert!(sum(&[&[0x19, 0xf1][..], &long].concat()).is_err());
        assert!(sum(&[&[0x18][..], &long].concat()).is_err());
        assert!(sum(&[0x1c; 1000]).is_err());
    }
}
