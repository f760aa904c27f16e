//! From a stream of bytes to blocks of whole lines, each of which can be read by itself.
//!
//! A block ends with a line, or with the text. Where cells may be in quotes, it ends with a record. So blocks are cut one
//! after the other, which costs little, and read side by side.

use std::io::Read;

use maxmargin::error::bytes as shown_bytes;
use memchr::{memchr, memrchr};

use crate::cells::separates;
use crate::error::Error;
use crate::number::PADDING;
use crate::rows::Fault;

/// A block of text. Its memory is used again for others.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The bytes of the block, a line end, and room to read beyond it.
    buffer: Vec<u8>,
    length: usize,
    /// Its place among the blocks, counted from 0.
    pub(crate) number: usize,
}

impl Block {
    /// The bytes of the block.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// The bytes of the block, a line end, and [`PADDING`] more.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.buffer[..self.length + 1 + PADDING]
    }

    /// The text of the block; where it is none, that of the lines before the first fault, and the fault.
    pub(crate) fn text(&self) -> (&str, Option<Fault>) {
        match check_text(self.bytes()) {
            Ok(text) => (text, None),
            Err(at) => {
                let fault = not_text(self, at);
                let line = memrchr(b'\n', &self.bytes()[..at]).map_or(0, |end| end + 1);
                (check_text(&self.bytes()[..line]).unwrap_or_default(), Some(fault))
            }
        }
    }

    fn make_room(&mut self, size: usize) {
        if self.buffer.len() < size + 1 + PADDING {
            self.buffer.resize(size + 1 + PADDING, 0);
        }
    }

    /// A block of these bytes alone.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut block = Block::default();
        block.make_room(bytes.len());
        block.buffer[..bytes.len()].copy_from_slice(bytes);
        block.end(bytes.len());
        block
    }

    fn end(&mut self, length: usize) {
        self.length = length;
        self.buffer[length] = b'\n';
    }
}

/// The bytes as text, or the place of the first that is not: a zero, or not UTF-8.
pub(crate) fn check_text(bytes: &[u8]) -> Result<&str, usize> {
    let zero = memchr(0, bytes);
    match (std::str::from_utf8(&bytes[..zero.unwrap_or(bytes.len())]), zero) {
        (Ok(text), None) => Ok(text),
        (Ok(_), Some(zero)) => Err(zero),
        (Err(error), _) => Err(error.valid_up_to()),
    }
}

#[cold]
fn not_text(block: &Block, at: usize) -> Fault {
    let fault = match block.bytes()[at] {
        0 => Fault::new(block, at, "a zero byte", "text", "give LIBSVM text or CSV, not a binary file"),
        byte => {
            let found = format!("the byte 0x{byte:02x}, which is not UTF-8");
            let help = "save the file as UTF-8 (if it is Latin-1: iconv -f latin1 -t utf-8)";
            Fault::new(block, at, found, "UTF-8 text", help)
        }
    };
    Fault { is_not_text: true, ..fault }
}

/// Cuts a stream into blocks.
pub(crate) struct Cutter<'s> {
    source: Box<dyn Read + Send + 's>,
    origin: String,
    /// Says what a failure of the stream means.
    explain: Box<dyn Fn(&std::io::Error) -> Error + Send + Sync + 's>,
    /// What was read and is not yet part of a block: all bytes from `start` on.
    kept: Vec<u8>,
    start: usize,
    /// How many bytes a block has, about.
    size: usize,
    /// Whether nothing more can be read.
    has_ended: bool,
    /// Why the stream ended before its end: told once all before it has been handed out.
    failure: Option<Error>,
    /// The bytes that the first block has at least.
    first: usize,
    number: usize,
    total: u64,
    limit: Option<u64>,
    /// What separates cells, where they may be in quotes.
    separator: Option<u8>,
}

impl<'s> Cutter<'s> {
    pub(crate) fn new(
        source: Box<dyn Read + Send + 's>,
        origin: &str,
        explain: Box<dyn Fn(&std::io::Error) -> Error + Send + Sync + 's>,
        size: usize,
        limit: Option<u64>,
    ) -> Self {
        Cutter {
            source,
            origin: origin.into(),
            explain,
            kept: Vec::new(),
            start: 0,
            size: size.max(1),
            has_ended: false,
            failure: None,
            first: 0,
            number: 0,
            total: 0,
            limit,
            separator: None,
        }
    }

    /// Sets what stands between cells, and the least number of bytes of the first block, which tells how the others are read. Cells
    /// in quotes may hold line ends.
    pub(crate) fn begin(&mut self, separator: u8, first: usize) {
        (self.separator, self.first) = (Some(separator), first);
    }

    /// At least `least` bytes from the start of the text, without a byte order mark, and whether that is all of it: fewer
    /// where the text ends or fails before. Only before the first block.
    pub(crate) fn head(&mut self, least: usize) -> (&[u8], bool) {
        let mut filled = self.kept.len();
        let before = filled;
        while filled < least.max(3) && !self.has_ended {
            self.kept.resize(least.max(3), 0);
            let mut kept = std::mem::take(&mut self.kept);
            filled += self.read(&mut kept[filled..]);
            self.kept = kept;
        }
        self.kept.truncate(filled);
        if before == 0 && self.kept.starts_with(b"\xef\xbb\xbf") {
            self.start = 3;
        }
        (&self.kept[self.start..], self.has_ended && self.failure.is_none())
    }

    /// Why no more can be read, where that is not the end.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// How many bytes a block has, about.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The number of the next block.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Whether all that is left is known to fit in one block.
    pub(crate) fn is_short(&self) -> bool {
        self.has_ended && self.failure.is_none() && self.kept.len() - self.start < self.size
    }

    /// The next block; whether there is one. A stream that fails first hands out the whole lines before its failure, so that
    /// what is read does not depend on the size of the blocks.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<bool, Error> {
        let mut size = if self.number == 0 { self.size.max(self.first) } else { self.size };
        let mut filled = 0;
        loop {
            block.make_room(size);
            let from_kept = (size - filled).min(self.kept.len() - self.start);
            block.buffer[filled..filled + from_kept].copy_from_slice(&self.kept[self.start..self.start + from_kept]);
            self.start += from_kept;
            filled += from_kept;
            while filled < size && !self.has_ended {
                filled += self.read(&mut block.buffer[filled..size]);
            }
            let is_last = self.has_ended && self.start == self.kept.len() && filled < size;
            let end = match &self.failure {
                None if filled == 0 => return Ok(false),
                None if is_last => Some(filled),
                _ => self.end(&block.buffer[..filled]),
            };
            if let (Some(failure), None, true) = (&self.failure, end, is_last) {
                return Err(failure.clone());
            }
            if let Some(end) = end {
                if self.start == self.kept.len() {
                    self.kept.clear();
                    self.kept.extend_from_slice(&block.buffer[end..filled]);
                    self.start = 0;
                } else {
                    // All of the block came from there.
                    self.start -= filled - end;
                }
                block.end(end);
                block.number = self.number;
                self.number += 1;
                return Ok(true);
            }
            // A line, or a cell in quotes, that is longer.
            size = size.saturating_mul(2);
        }
    }

    /// Where the last whole line or record of a text ends.
    fn end(&self, text: &[u8]) -> Option<usize> {
        let end = match self.separator {
            Some(separator) => last_record_end(text, separator),
            None => memrchr(b'\n', text).map(|end| end + 1),
        };
        end.filter(|&end| self.number > 0 || end >= self.first)
    }

    /// Reads some bytes; none at the end, or where the stream fails.
    fn read(&mut self, room: &mut [u8]) -> usize {
        loop {
            let read = match self.source.read(room) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                read => read,
            };
            let mut count = *read.as_ref().unwrap_or(&0);
            self.has_ended = count == 0;
            if let Err(error) = read {
                self.failure = Some((self.explain)(&error));
            }
            if let Some(limit) = self.limit.filter(|limit| self.total + count as u64 > *limit) {
                count = (limit - self.total) as usize;
                (self.has_ended, self.failure) = (true, Some(too_long(&self.origin, limit)));
            }
            self.total += count as u64;
            return count;
        }
    }
}

/// The error of more bytes than are allowed.
pub(crate) fn too_long(origin: &str, limit: u64) -> Error {
    Error::Limit {
        path: origin.into(),
        what: format!("the data are more than the limit of {}", shown_bytes(limit)),
        help: "raise the limit, or give fewer rows".into(),
    }
}

/// Where the last record ends of those that are whole, in a text that starts with one.
///
/// A quote opens a cell only where the cell starts, and one within it is written twice; all other quotes are letters.
pub(crate) fn last_record_end(text: &[u8], separator: u8) -> Option<usize> {
    let mut end = None;
    let mut at = 0;
    let mut outside = 0;
    while let Some(length) = memchr(b'"', &text[at..]) {
        let quote = at + length;
        let opens = quote == 0 || matches!(text[quote - 1], b'\n' | b'\r') || separates(text[quote - 1], separator);
        if !opens {
            at = quote + 1;
            continue;
        }
        end = memrchr(b'\n', &text[outside..quote]).map(|line| outside + line + 1).or(end);
        match closing_quote(text, quote + 1) {
            Some(closing) => at = closing + 1,
            None => return end,
        }
        outside = at;
    }
    memrchr(b'\n', &text[outside..]).map(|line| outside + line + 1).or(end)
}

/// The quote that closes a cell, looked for from a place within it.
fn closing_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let quote = at + memchr(b'"', text.get(at..)?)?;
        if text.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}
