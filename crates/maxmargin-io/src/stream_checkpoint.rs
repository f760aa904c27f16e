//! The checkpoint file of a stream: the state of a learner, in the container of model files.
//!
//! ```text
//! header           __metadata__ with one entry, "maxmargin-stream":
//!                  { "format": 1, "program": "0.1.0", "checksum": "…", "checkpoint": { … } }
//! tensors          vectors F64 [2m, d]      two vectors a machine
//! ```
//!
//! `checkpoint` is [`StreamState`]. A save keeps the file that it replaces, if that one is whole, as
//! [`previous_checkpoint`] says.

use std::path::Path;

use maxmargin::stream::{StreamSnapshot, StreamState};

use crate::atomic::save_over;
use crate::checkpoint_file::previous_checkpoint;
use crate::container::{self, Kind, Tensor};
use crate::error::Error;

/// What the file is.
const STREAM: Kind<'static> = Kind {
    key: "maxmargin-stream",
    noun: "checkpoint",
    format: 1,
    when_other: "name a checkpoint file that a training on a stream has written",
    when_damaged: "begin from scratch",
};

/// Saves where a stream was, whole or not at all, and keeps the file before it as [`previous_checkpoint`].
///
/// # Errors
/// When the file cannot be written. Then the old one is as it was.
pub fn save_stream_checkpoint(path: &Path, snapshot: &StreamSnapshot) -> Result<(), Error> {
    let bytes = stream_checkpoint_to_bytes(snapshot).map_err(|what| Error::OwnFile {
        path: path.display().to_string(),
        what,
        help: "train without a checkpoint".into(),
    })?;
    let is_whole = std::fs::read(path).is_ok_and(|old| stream_checkpoint_from_bytes(&old, "").is_ok());
    let previous = previous_checkpoint(path);
    save_over(path, is_whole.then_some(previous.as_path()), &bytes)
}

/// Loads where a stream was. Every claim of the file is checked before memory is taken for it.
///
/// # Errors
/// When the file cannot be read, is damaged, of another kind, or of a newer format.
pub fn load_stream_checkpoint(path: &Path) -> Result<StreamSnapshot, Error> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Error::Open {
        path: name.clone(),
        reason: crate::error::reason(&error),
        help: STREAM.when_other.into(),
    })?;
    stream_checkpoint_from_bytes(&bytes, &name)
}

/// Where a stream was, as the bytes of a file.
///
/// # Errors
/// The reason why it cannot be saved.
pub fn stream_checkpoint_to_bytes(snapshot: &StreamSnapshot) -> Result<Vec<u8>, String> {
    let state =
        serde_json::to_string(&snapshot.state).map_err(|error| format!("the checkpoint cannot be saved: {error}"))?;
    let columns = snapshot.vectors.first().map_or(0, Vec::len);
    let shape = vec![snapshot.vectors.len(), columns];
    let numbers = snapshot.vectors.iter().flatten().copied();
    container::to_bytes(&STREAM, state, &[Tensor::new("vectors", shape, numbers)])
}

/// Where a stream was, from the bytes of a file called `name`.
///
/// # Errors
/// When the bytes are damaged, of another kind, or of a newer format.
pub fn stream_checkpoint_from_bytes(bytes: &[u8], name: &str) -> Result<StreamSnapshot, Error> {
    let damaged = |what: String| container::damaged(&STREAM, name, &what);
    let (json, tensors) = container::from_bytes(&STREAM, bytes, name)?;
    let state: StreamState = serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))?;
    let Some(&[count, columns]) = tensors.shape("vectors") else {
        return Err(damaged("its vectors are missing".into()));
    };
    let numbers: Vec<f64> = tensors.numbers("vectors", count.checked_mul(columns)).map_err(damaged)?;
    let vectors = (0..count).map(|place| numbers[place * columns..(place + 1) * columns].to_vec());
    // Without columns there are no bytes that a claim of many vectors could be compared with.
    if columns == 0 && count > 1 << 20 {
        return Err(damaged(format!("it claims {count} vectors")));
    }
    Ok(StreamSnapshot { state, vectors: vectors.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::Stop;
    use maxmargin::data::generate;
    use maxmargin::stream::{StreamParams, StreamingSgd};

    fn learner() -> StreamingSgd {
        let mut learner = StreamParams { batch: 3, hold_out: Some(5), ..StreamParams::default() }.check().unwrap();
        learner.learn(&generate("blobs", 40, 1).unwrap()).unwrap();
        learner
    }

    #[test]
    fn a_learner_that_was_saved_goes_on_to_the_same_bits() {
        let more = generate("blobs", 30, 2).unwrap();
        let mut undisturbed = learner();
        let bytes = stream_checkpoint_to_bytes(&undisturbed.snapshot()).unwrap();
        let mut loaded = StreamingSgd::from_snapshot(stream_checkpoint_from_bytes(&bytes, "t").unwrap()).unwrap();
        let bits = |learner: &mut StreamingSgd| {
            learner.learn(&more).unwrap();
            crate::model_to_bytes(&learner.model(Stop::IterationLimit).unwrap()).unwrap()
        };
        assert_eq!(bits(&mut loaded), bits(&mut undisturbed));
    }

    #[test]
    fn padding_other_than_blanks_is_refused() {
        let bytes = stream_checkpoint_to_bytes(&learner().snapshot()).unwrap();
        container::tests::refuses_other_padding(&bytes, &|bytes| stream_checkpoint_from_bytes(bytes, "t").map(drop));
    }

    #[test]
    fn every_prefix_and_every_flipped_bit_is_refused() {
        let bytes = stream_checkpoint_to_bytes(&learner().snapshot()).unwrap();
        for length in 0..bytes.len() {
            assert!(stream_checkpoint_from_bytes(&bytes[..length], "t").is_err(), "the first {length} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(stream_checkpoint_from_bytes(&damaged, "t").is_err(), "bit {bit}");
        }
    }

    #[test]
    fn the_file_before_is_kept_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        save_stream_checkpoint(&path, &learner().snapshot()).unwrap();
        save_stream_checkpoint(&path, &learner().snapshot()).unwrap();
        assert!(load_stream_checkpoint(&path).is_ok() && load_stream_checkpoint(&previous_checkpoint(&path)).is_ok());
        let error = stream_checkpoint_from_bytes(b"hello", "t").unwrap_err();
        assert!(error.to_string().starts_with("t: this is no checkpoint file"), "{error}");
    }
}
