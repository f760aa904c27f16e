//! Compressed files, found by their first bytes and decompressed as they are read.
//!
//! Several compressed files joined to one read as one. Memory is bounded whatever the file says it needs.

use std::io::{self, BufRead, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, reason};
use crate::limits::{most_text, too_much};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

/// How many bytes tell.
const TELLING: usize = 10;

/// What xz may need of memory; its highest level needs 65 MiB.
const XZ_MEMORY: u64 = 1 << 29;

/// Bytes that are read from a file at once. More would let who listens to a slow pipe wait longer.
const BUFFER: usize = 1 << 15;

impl Compression {
    /// By the first bytes of a file.
    fn find(first: &[u8]) -> Option<Self> {
        // A text could begin with the letters alone, so what comes after them must fit, too.
        let is_bzip2 = |rest: &[u8]| {
            matches!(rest, [b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..])
                || matches!(rest, [b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..])
        };
        match first {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [b'B', b'Z', b'h', rest @ ..] if is_bzip2(rest) => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
        }
    }

    /// The error of a file that does not decompress.
    pub(crate) fn damaged(self, origin: &str, error: &std::io::Error) -> Error {
        let name = self.name();
        if error.get_ref().is_some_and(|inner| inner.is::<TooMuch>()) {
            let help = format!("decompress it first if that is right: {name} -d");
            return too_much(origin, "more text than a compressed file is read for", help);
        }
        Error::Content {
            path: origin.into(),
            found: format!("{name}-compressed data that are damaged or cut off ({})", reason(error)),
            expected: "a whole file".into(),
            help: format!("copy or download the file once more; {name} -t tests it").into(),
        }
    }
}

/// A stream of what a stream holds, decompressed, and how it was compressed.
///
/// # Errors
/// When the stream cannot be read.
pub(crate) fn decompressed<'s>(
    mut source: impl Read + Send + 's,
) -> std::io::Result<(Box<dyn Read + Send + 's>, Option<Compression>)> {
    let mut first = Vec::with_capacity(TELLING);
    source.by_ref().take(TELLING as u64).read_to_end(&mut first)?;
    let compression = Compression::find(&first);
    let whole = Cursor::new(first).chain(source);
    let buffered = |whole| Filled { source: whole, buffer: vec![0; BUFFER], ready: 0..0, failure: None };
    let stream: Box<dyn Read + Send + 's> = match compression {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(whole))),
        Some(Compression::Bzip2) => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(whole))),
        Some(Compression::Xz) => {
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(buffered(whole), stream))
        }
        Some(Compression::Zstd) => Box::new(zstd::stream::read::Decoder::with_buffer(buffered(whole))?),
    };
    Ok((stream, compression))
}

/// Hands a stream on in pieces of [`BUFFER`] bytes, however many come at a time: what a decompressor gives before it finds a
/// fault depends on the pieces that it gets.
struct Filled<R> {
    source: R,
    buffer: Vec<u8>,
    /// The bytes of the buffer that are not yet handed on.
    ready: Range<usize>,
    /// Why the stream ended, told after the bytes before it.
    failure: Option<io::Error>,
}

impl<R: Read> BufRead for Filled<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.ready.is_empty() {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let mut filled = 0;
            while filled < self.buffer.len() {
                match self.source.read(&mut self.buffer[filled..]) {
                    Ok(0) => break,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if filled == 0 => return Err(error),
                    Err(error) => {
                        self.failure = Some(error);
                        break;
                    }
                }
            }
            self.ready = 0..filled;
        }
        Ok(&self.buffer[self.ready.clone()])
    }

    fn consume(&mut self, count: usize) {
        self.ready.start += count;
    }
}

impl<R: Read> Read for Filled<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut ready = self.fill_buf()?;
        let count = ready.read(room)?;
        self.consume(count);
        Ok(count)
    }
}

/// Says that a compressed stream holds more than it may, in the words of an error of reading.
#[derive(Debug)]
pub(crate) struct TooMuch;

impl std::fmt::Display for TooMuch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("it unpacks to more than a file of its length may")
    }
}

impl std::error::Error for TooMuch {}

/// Hands on what a compressed stream holds, as long as that is not more than [`most_text`] of the bytes read so far.
///
/// A decompressor that finds a fault gives no bytes of the call that finds it. So it is asked for the same number of bytes
/// each time, and what is handed on before the fault does not depend on who reads how much at a time.
pub(crate) struct Bounded<R> {
    source: R,
    /// The bytes read so far, before they were unpacked.
    read: Arc<AtomicU64>,
    unpacked: u64,
    buffer: Vec<u8>,
    /// The bytes of the buffer that are not yet handed on.
    ready: Range<usize>,
}

/// Bytes that a decompressor is asked for at a time.
const UNPACKED_AT_ONCE: usize = 1 << 16;

impl<R: Read> Bounded<R> {
    pub(crate) fn new(source: R, read: Arc<AtomicU64>) -> Self {
        Bounded { source, read, unpacked: 0, buffer: vec![0; UNPACKED_AT_ONCE], ready: 0..0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        if self.ready.is_empty() {
            let count = self.source.read(&mut self.buffer)?;
            self.unpacked += count as u64;
            if self.unpacked > most_text(self.read.load(Ordering::Relaxed)) {
                return Err(std::io::Error::other(TooMuch));
            }
            self.ready = 0..count;
        }
        let count = room.len().min(self.ready.len());
        room[..count].copy_from_slice(&self.buffer[self.ready.start..self.ready.start + count]);
        self.ready.start += count;
        Ok(count)
    }
}

/// A file's name without the ending that says how it is compressed.
///
/// # Examples
/// ```
/// assert_eq!(maxmargin_io::without_compression("data/x.csv.gz"), "data/x.csv");
/// assert_eq!(maxmargin_io::without_compression("x.csv"), "x.csv");
/// ```
pub fn without_compression(name: &str) -> &str {
    let ending = |ending: &&str| {
        let length = name.len().checked_sub(ending.len())?;
        name.get(length..).filter(|end| end.eq_ignore_ascii_case(ending)).map(|_| &name[..length])
    };
    [".gz", ".bz2", ".xz", ".zst"].iter().find_map(ending).unwrap_or(name)
}
