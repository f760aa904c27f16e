//! Compressed files, found by their first bytes and decompressed as they are read.
//!
//! Several compressed files joined to one read as one. Memory is bounded whatever the file says it needs.

use std::io::{BufReader, Cursor, Read};

use crate::error::{Error, reason};

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

/// What is read from a file at once.
const BUFFER: usize = 1 << 17;

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
        Error::Content {
            path: origin.into(),
            found: format!("{name}-compressed data that are damaged or cut off ({})", reason(error)),
            expected: "a whole file".into(),
            help: format!("copy or download the file once more; {name} -t tests it"),
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
    let buffered = |whole| BufReader::with_capacity(BUFFER, whole);
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
