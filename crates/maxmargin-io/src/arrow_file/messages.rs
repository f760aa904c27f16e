//! The messages that an Arrow file or stream is made of.
//!
//! ```text
//! file    = "ARROW1" 0 0 ...  stream  footer  length of the footer (4 bytes)  "ARROW1"
//! stream  = message ...  0xFFFFFFFF 0
//! message = 0xFFFFFFFF  length of the head (4 bytes)  head  body
//! ```
//!
//! The head says how long the body is, and where in it which buffer is. The footer is an index for those who jump; read from the beginning
//! to the end, a file is a stream, and needs no more memory than its largest message.

use std::io::{self, Read};

use arrow_ipc::{BodyCompression, CompressionType, MessageHeader, RecordBatch, root_as_message_with_opts};
use flatbuffers::VerifierOptions;

use crate::limits::most_bytes;

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8; 8] = b"ARROW1\0\0";
/// The first bytes of a stream, and of each of its messages.
pub(crate) const STREAM: &[u8; 4] = b"\xff\xff\xff\xff";
/// The most zeros before the first message of a file.
const MOST_ZEROS: usize = 256;
/// The most bytes of a head: some hundreds for each column.
const MOST_HEAD: usize = 256 << 20;

/// A message: its head, and its body.
pub(super) struct Message {
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
}

/// Reads message after message.
pub(super) struct Messages {
    source: Box<dyn Read + Send>,
    is_file: bool,
    is_begun: bool,
    is_done: bool,
    /// Bytes of all messages so far, and what their buffers unpack to.
    read: u64,
    unpacked: u64,
}

/// What is wrong with the bytes.
pub(super) type Fault = String;

impl Messages {
    /// Looks at the first bytes.
    pub(super) fn new(mut source: Box<dyn Read + Send>, is_file: bool) -> Result<Self, Fault> {
        if is_file {
            let first = exactly(&mut source, MAGIC.len(), "the first bytes")?;
            if first != MAGIC {
                return Err("it does not begin with ARROW1".into());
            }
        }
        Ok(Messages { source, is_file, is_begun: false, is_done: false, read: 0, unpacked: 0 })
    }

    /// The bytes of all messages so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read
    }

    /// The next message; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<Message>, Fault> {
        if self.is_done {
            return Ok(None);
        }
        let mut first = up_to(&mut self.source, 4)?;
        // Some writers fill up to a round place before the first message.
        for _ in (0..MOST_ZEROS).step_by(4) {
            if self.is_begun || !self.is_file || first != [0; 4] {
                break;
            }
            first = up_to(&mut self.source, 4)?;
        }
        self.is_begun = true;
        // A stream may end without a word; a file goes on with its footer, which some writers do not announce.
        if first.is_empty() && !self.is_file {
            self.is_done = true;
            return Ok(None);
        }
        if first != STREAM {
            return if self.is_file && first.len() == 4 {
                self.footer(first).map(|()| None)
            } else {
                Err("a message does not begin as it should".into())
            };
        }
        let length = exactly(&mut self.source, 4, "the length of a message")?;
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if length == 0 {
            self.is_done = true;
            if self.is_file {
                self.footer(Vec::new())?;
            }
            return Ok(None);
        }
        if length > MOST_HEAD {
            return Err(format!("a message claims a head of {length} bytes"));
        }
        let head = exactly(&mut self.source, length, "the head of a message")?;
        let message = message(&head)?;
        let Ok(length) = usize::try_from(message.bodyLength()) else {
            return Err(format!("a message claims a body of {} bytes", message.bodyLength()));
        };
        let body = exactly(&mut self.source, length, "the body of a message")?;
        self.read = self.read.saturating_add((head.len() + body.len()) as u64);
        check_buffers(&message, &body, most_bytes(self.read), &mut self.unpacked)?;
        Ok(Some(Message { head, body }))
    }

    /// What comes after the messages of a file, of which some bytes may have been read: it is skipped, but it must be there.
    fn footer(&mut self, mut last: Vec<u8>) -> Result<(), Fault> {
        self.is_done = true;
        let mut room = [0; 4096];
        loop {
            match self.source.read(&mut room) {
                Ok(0) => break,
                Ok(count) => last.extend_from_slice(&room[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.to_string()),
            }
            last.drain(..last.len().saturating_sub(10));
        }
        if last.ends_with(b"ARROW1") && last.len() == 10 { Ok(()) } else { Err("its end is missing".into()) }
    }
}

/// The head of a message, checked. Its parts may lie in each other or be shared, which a writer has no reason for: what
/// they add up to is bounded by the bytes that are there.
pub(super) fn message(head: &[u8]) -> Result<arrow_ipc::Message<'_>, Fault> {
    let bounds = VerifierOptions {
        max_tables: head.len() / 4 + 16,
        max_apparent_size: head.len().saturating_mul(8).saturating_add(1 << 12),
        ..VerifierOptions::default()
    };
    root_as_message_with_opts(&bounds, head).map_err(|error| format!("the head of a message does not read: {error}"))
}

/// As many bytes, or all that there are.
fn up_to(source: &mut dyn Read, length: usize) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    // The length is a claim, so that room grows with the bytes that come.
    source.take(length as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn exactly(source: &mut dyn Read, length: usize, what: &str) -> Result<Vec<u8>, Fault> {
    let bytes = up_to(source, length)?;
    if bytes.len() == length { Ok(bytes) } else { Err(format!("{what}: {} bytes of {length}", bytes.len())) }
}

/// Compares what a head says of its buffers with the bytes that are there, before anything is allocated for them. Compressed
/// ones are counted into `unpacked`, which may be `most` bytes.
fn check_buffers(message: &arrow_ipc::Message<'_>, body: &[u8], most: u64, unpacked: &mut u64) -> Result<(), Fault> {
    let batch: Option<RecordBatch<'_>> = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => return Ok(()),
    };
    let Some(batch) = batch else { return Err("a batch without a head".into()) };
    for buffer in batch.buffers().into_iter().flatten() {
        let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = place.and_then(|(start, length)| body.get(start..start.checked_add(length)?));
        let Some(bytes) = bytes else {
            let found = format!("{} bytes from byte {} on", buffer.length(), buffer.offset());
            return Err(format!("a buffer claims {found} of a body of {}", body.len()));
        };
        if let Some(compression) = batch.compression().filter(|_| !bytes.is_empty()) {
            *unpacked = unpacked.saturating_add(check_length(compression, bytes, most.saturating_sub(*unpacked))?);
        }
    }
    Ok(())
}

/// A compressed buffer begins with its length in full: it is unpacked once without being kept, and counted. It may have
/// `most` bytes.
fn check_length(compression: BodyCompression<'_>, bytes: &[u8], most: u64) -> Result<u64, Fault> {
    let Some((claimed, packed)) = bytes.split_first_chunk::<8>() else {
        return Err("a compressed buffer of fewer than 8 bytes".into());
    };
    let claimed = i64::from_le_bytes(*claimed);
    if matches!(claimed, -1 | 0) {
        return Ok(0);
    }
    let Ok(claimed) = u64::try_from(claimed) else {
        return Err(format!("a compressed buffer claims {claimed} bytes"));
    };
    if claimed > most {
        return Err(format!("a compressed buffer claims {claimed} bytes, more than a file of its length may hold"));
    }
    let count = |source: &mut dyn Read| io::copy(&mut source.take(claimed.saturating_add(1)), &mut io::sink());
    let found = match compression.codec() {
        CompressionType::LZ4_FRAME => count(&mut lz4_flex::frame::FrameDecoder::new(packed)),
        CompressionType::ZSTD => zstd::Decoder::new(packed).and_then(|mut decoder| count(&mut decoder)),
        _ => return Err("a compression that is neither lz4 nor zstd".into()),
    };
    match found {
        Ok(found) if found == claimed => Ok(found),
        Ok(found) => Err(format!("a compressed buffer claims {claimed} bytes and has {found}")),
        Err(error) => Err(format!("a compressed buffer does not unpack: {error}")),
    }
}
