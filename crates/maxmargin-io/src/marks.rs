//! The places of all bytes of a text that are no digits.
//!
//! Numbers end at such bytes. Searching for each end by itself would make each number wait for the one before. Here sixty-four bytes are
//! compared at once and their places written down, so that the processor reads many numbers at a time.

/// Stands for a mark beyond the part of the text that was looked at.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// How many [`UNKNOWN`] marks follow the last one, so that a reader may look ahead.
const BEYOND: usize = 8;
/// Bytes that are looked at together, and those whose marks are written at a time.
const CHUNK: usize = 64;
const MARKS_AT_A_TIME: usize = 8;

/// The marks of a part of a text, as distances from its start. The memory is used again for the next part.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    places: Vec<u32>,
    count: usize,
}

impl Marks {
    /// Looks at the bytes of a text from one place to before another, which is at most 2³⁰ bytes away.
    pub(crate) fn find(&mut self, text: &[u8], start: usize, end: usize) {
        let part = &text[start..end];
        if self.places.len() < part.len() + CHUNK + BEYOND {
            self.places.resize(part.len() + CHUNK + BEYOND, 0);
        }
        self.count = 0;
        let (chunks, rest) = part.as_chunks::<CHUNK>();
        for (k, chunk) in chunks.iter().enumerate() {
            self.write((k * CHUNK) as u32, others(chunk));
        }
        if !rest.is_empty() {
            // Digits have no marks.
            let mut chunk = [b'0'; CHUNK];
            chunk[..rest.len()].copy_from_slice(rest);
            self.write((chunks.len() * CHUNK) as u32, others(&chunk));
        }
        self.places[self.count..self.count + BEYOND].fill(UNKNOWN);
    }

    /// The marks in their order, and [`UNKNOWN`] for a few beyond the last.
    pub(crate) fn places(&self) -> &[u32] {
        &self.places[..self.count + BEYOND]
    }

    /// Writes the places of the bits that are set; what is written beyond the last of them is written over.
    #[inline]
    fn write(&mut self, base: u32, mut bits: u64) {
        let count = bits.count_ones() as usize;
        let mut written = 0;
        while written < count {
            let Some(out) = self.places[self.count + written..].first_chunk_mut::<MARKS_AT_A_TIME>() else { return };
            for place in out {
                *place = base + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            written += MARKS_AT_A_TIME;
        }
        self.count += count;
    }
}

/// A bit for each byte that is no digit.
#[inline]
fn others(chunk: &[u8; CHUNK]) -> u64 {
    let mut bits = 0;
    for (k, bytes) in chunk.as_chunks::<8>().0.iter().enumerate() {
        let digits = u64::from_le_bytes(*bytes) ^ 0x3030_3030_3030_3030;
        // A digit has become 0 to 9: adding 0x76 sets the highest bit of all others below 128, the rest have it set.
        let high = (((digits & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
        // The highest bits of eight bytes, side by side.
        bits |= ((high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks_of(text: &[u8], start: usize, end: usize) -> Vec<u32> {
        let mut marks = Marks::default();
        // What an earlier text left must not show.
        marks.find(&[b'x'; 300], 0, 300);
        marks.find(text, start, end);
        let (found, beyond) = marks.places().split_at(marks.count);
        assert!(beyond.len() == BEYOND && beyond.iter().all(|&place| place == UNKNOWN));
        found.to_vec()
    }

    #[test]
    fn every_byte_that_is_no_digit_has_a_mark_at_every_place() {
        for place in 0..CHUNK {
            for byte in 0..=255u8 {
                let mut text = [b'7'; CHUNK];
                text[place] = byte;
                let expected: &[u32] = if byte.is_ascii_digit() { &[] } else { &[place as u32] };
                assert_eq!(marks_of(&text, 0, CHUNK), expected, "{byte} at {place}");
            }
        }
    }

    #[test]
    fn marks_are_those_found_byte_by_byte_for_every_part_of_a_text() {
        let text: Vec<u8> = (0..200u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8 % 64 + 20).collect();
        for start in 0..text.len() {
            for end in start..=text.len() {
                let others = (start..end).filter(|&at| !text[at].is_ascii_digit());
                let expected: Vec<u32> = others.map(|at| (at - start) as u32).collect();
                assert_eq!(marks_of(&text, start, end), expected, "{start}..{end}");
            }
        }
    }
}
