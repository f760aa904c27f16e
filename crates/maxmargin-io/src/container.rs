//! What model files and checkpoint files share: a safetensors file with a header that is checked, and a checksum over all of it.

use std::borrow::Cow;
use std::collections::HashMap;

use maxmargin::data::Values;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::Error;

/// The most iterations that a machine of a file may claim: what is added to them, and their sum over a million machines, does
/// not overflow. No training comes near.
pub(crate) const MOST_ITERATIONS: u64 = 1 << 44;

/// A kind of file.
pub(crate) struct Kind<'a> {
    /// The entry of the metadata that is ours.
    pub(crate) key: &'static str,
    /// What is in the file, and the name of the header's last entry: model or checkpoint.
    pub(crate) noun: &'static str,
    /// The format written. Older ones are read, newer ones refused.
    pub(crate) format: u32,
    /// The way out when the file is something else.
    pub(crate) when_other: &'a str,
    /// The way out when the file is damaged.
    pub(crate) when_damaged: &'a str,
}

/// What stands in the metadata.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    format: u32,
    program: String,
    checksum: String,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    model: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<&'a RawValue>,
}

/// The part of any header, of whatever format, that says which format it is.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// The bytes of a file with this content, which is JSON, and these tensors.
///
/// # Errors
/// The reason why it cannot be saved.
pub(crate) fn to_bytes(kind: &Kind<'_>, content: String, tensors: &[Tensor]) -> Result<Vec<u8>, String> {
    let noun = kind.noun;
    let fail = |error: &dyn std::fmt::Display| format!("the {noun} cannot be saved: {error}");
    let views = tensors
        .iter()
        .map(|tensor| Ok((&*tensor.name, TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .map_err(|error| fail(&error))?;
    let program = env!("CARGO_PKG_VERSION");
    let checksum = checksum(kind.format, program, &content, views.iter().map(|(name, view)| (*name, view)));
    let content = RawValue::from_string(content).map_err(|error| fail(&error))?;
    let header = Header {
        format: kind.format,
        program: program.into(),
        checksum,
        model: (noun == "model").then_some(&content),
        checkpoint: (noun == "checkpoint").then_some(&content),
    };
    let text = serde_json::to_string(&header).map_err(|error| fail(&error))?;
    // One entry only: with more, their order, and so the bytes of the file, would differ from run to run.
    let metadata = HashMap::from([(kind.key.to_string(), text)]);
    safetensors::serialize(views, Some(metadata)).map_err(|error| fail(&error))
}

/// The content and the tensors of a file called `name`, once its checksum has been found to match.
///
/// # Errors
/// When the bytes are damaged, of another kind, or of a newer format.
pub(crate) fn from_bytes<'a>(kind: &Kind<'_>, bytes: &'a [u8], name: &str) -> Result<(String, Tensors<'a>), Error> {
    let noun = kind.noun;
    let refuse = |what: String, help: &str| Error::OwnFile { path: name.to_string(), what, help: help.into() };
    let not_ours = |what: String| refuse(what, kind.when_other);
    let damaged = |what: String| damaged(kind, name, &what);
    let (length, metadata) = SafeTensors::read_metadata(bytes)
        .map_err(|error| not_ours(format!("this is no {noun} file, or only a part of one ({error})")))?;
    check_padding(bytes.get(8..8 + length).unwrap_or_default()).map_err(damaged)?;
    let file = SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
    let text = metadata
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(kind.key))
        .ok_or_else(|| not_ours(format!("this is a safetensors file, but no {noun} of maxmargin")))?;
    let FormatOnly { format } = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
    if format > kind.format {
        return Err(refuse(
            format!("the {noun} is of format {format}, and this program reads formats up to {}", kind.format),
            "update maxmargin",
        ));
    }
    let header: Header<'_> = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
    let content = if noun == "model" { header.model } else { header.checkpoint };
    let content = content.ok_or_else(|| damaged(format!("its header has no {noun}")))?;
    let tensors: HashMap<String, TensorView<'a>> = file.tensors().into_iter().collect();
    let views = tensors.iter().map(|(name, view)| (name.as_str(), view));
    if header.checksum != checksum(header.format, &header.program, content.get(), views) {
        return Err(damaged("its checksum does not match".into()));
    }
    Ok((content.get().to_string(), Tensors(tensors)))
}

/// Checks the header up to the tensors: nothing before its text, and after it as many blanks as fill eight bytes. The checksum
/// does not cover them.
fn check_padding(header: &[u8]) -> Result<(), String> {
    let text = header.iter().rposition(|&byte| byte == b'}').map_or(0, |last| last + 1);
    let padding = &header[text..];
    let is_ours = header.first() == Some(&b'{') && header.len().is_multiple_of(8);
    if is_ours && padding.len() < 8 && padding.iter().all(|&byte| byte == b' ') {
        Ok(())
    } else {
        Err("its header is filled up with something else than blanks".into())
    }
}

/// The error of a file that is damaged.
pub(crate) fn damaged(kind: &Kind<'_>, name: &str, what: &str) -> Error {
    Error::OwnFile {
        path: name.to_string(),
        what: format!("the {} file is damaged: {what}", kind.noun),
        help: kind.when_damaged.into(),
    }
}

/// BLAKE3 over the header and all tensors in the order of their names, each part preceded by its length.
fn checksum<'a>(
    format: u32,
    program: &str,
    content: &str,
    tensors: impl Iterator<Item = (&'a str, &'a TensorView<'a>)>,
) -> String {
    let mut sorted: Vec<_> = tensors.collect();
    sorted.sort_by(|a, b| a.0.cmp(b.0));
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(&format.to_le_bytes());
    add(program.as_bytes());
    add(content.as_bytes());
    for (name, view) in sorted {
        add(name.as_bytes());
        add(format!("{:?} {:?}", view.dtype(), view.shape()).as_bytes());
        add(view.data());
    }
    hasher.finalize().to_hex().to_string()
}

/// A named list of numbers, to be written.
pub(crate) struct Tensor {
    name: Cow<'static, str>,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    /// What it is called.
    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn new<T: Number>(
        name: impl Into<Cow<'static, str>>,
        shape: Vec<usize>,
        numbers: impl IntoIterator<Item = T>,
    ) -> Self {
        // No more than it takes: a model may have millions of coefficients.
        let mut bytes = Vec::with_capacity(shape.iter().product::<usize>() * size_of::<T>());
        numbers.into_iter().for_each(|number| bytes.extend(number.to_bytes()));
        Tensor { name: name.into(), dtype: T::DTYPE, shape, bytes }
    }

    /// A list of bytes, such as a text that is too long for the header.
    pub(crate) fn of_bytes(name: &'static str, bytes: Vec<u8>) -> Self {
        Tensor { name: name.into(), dtype: Dtype::U8, shape: vec![bytes.len()], bytes }
    }

    /// A list of whole numbers, in the smallest type that holds all of them.
    pub(crate) fn whole(name: &'static str, numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let (count, largest) =
            numbers.clone().fold((0, 0), |(count, largest), number| (count + 1, number.max(largest)));
        let shape = vec![count];
        if largest <= u64::from(u8::MAX) {
            Tensor::new(name, shape, numbers.map(|number| number as u8))
        } else if largest <= u64::from(u16::MAX) {
            Tensor::new(name, shape, numbers.map(|number| number as u16))
        } else if largest <= u64::from(u32::MAX) {
            Tensor::new(name, shape, numbers.map(|number| number as u32))
        } else {
            Tensor::new(name, shape, numbers)
        }
    }

    pub(crate) fn of_values(name: &'static str, shape: Vec<usize>, values: &Values) -> Self {
        match values {
            Values::F32(values) => Tensor::new(name, shape, values.iter().copied()),
            Values::F64(values) => Tensor::new(name, shape, values.iter().copied()),
        }
    }
}

/// A number as it stands in the file: little-endian.
pub(crate) trait Number: Copy {
    const DTYPE: Dtype;
    type Bytes: IntoIterator<Item = u8>;
    fn to_bytes(self) -> Self::Bytes;
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

macro_rules! number {
    ($type:ty, $dtype:ident) => {
        impl Number for $type {
            const DTYPE: Dtype = Dtype::$dtype;
            type Bytes = [u8; size_of::<$type>()];
            fn to_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(<$type>::from_le_bytes)
            }
        }
    };
}
number!(f64, F64);
number!(f32, F32);
number!(u64, U64);
number!(u32, U32);
number!(u16, U16);
number!(u8, U8);

/// The tensors of a file.
pub(crate) struct Tensors<'a>(HashMap<String, TensorView<'a>>);

impl Tensors<'_> {
    /// The shape of a tensor, if there is one of this name.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.0.get(name).map(TensorView::shape)
    }

    /// The numbers of a tensor of this name, type and (where given) length.
    pub(crate) fn numbers<T: Number>(&self, name: &str, length: Option<usize>) -> Result<Vec<T>, String> {
        let view = self.0.get(name).ok_or_else(|| format!("{name} is missing"))?;
        if view.dtype() != T::DTYPE {
            return Err(format!("{name} is of type {:?}, not {:?}", view.dtype(), T::DTYPE));
        }
        let found = view.data().len() / size_of::<T>();
        if length.is_some_and(|length| length != found) {
            return Err(format!("{name} has {found} numbers, not {}", length.unwrap_or_default()));
        }
        view.data()
            .chunks_exact(size_of::<T>())
            .map(T::from_bytes)
            .collect::<Option<_>>()
            .ok_or_else(|| format!("{name} is cut"))
    }

    /// The whole numbers of a tensor of this name and length, of whichever type they are.
    pub(crate) fn whole(&self, name: &str, length: usize) -> Result<Vec<u64>, String> {
        fn widened<T: Number + Into<u64>>(numbers: Vec<T>) -> Vec<u64> {
            numbers.into_iter().map(Into::into).collect()
        }
        match self.0.get(name).map(TensorView::dtype) {
            Some(Dtype::U8) => self.numbers::<u8>(name, Some(length)).map(widened),
            Some(Dtype::U16) => self.numbers::<u16>(name, Some(length)).map(widened),
            Some(Dtype::U32) => self.numbers::<u32>(name, Some(length)).map(widened),
            _ => self.numbers::<u64>(name, Some(length)),
        }
    }

    /// The bytes of a tensor of bytes, if there is one of this name.
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).filter(|view| view.dtype() == Dtype::U8).map(TensorView::data)
    }

    /// The numbers of a tensor in the precision it has.
    pub(crate) fn values(&self, name: &str) -> Result<Values, String> {
        match self.0.get(name).map(TensorView::dtype) {
            Some(Dtype::F32) => self.numbers::<f32>(name, None).map(Values::from),
            _ => self.numbers::<f64>(name, None).map(Values::from),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Tries every other way to fill up the header of a file.
    pub(crate) fn refuses_other_padding(bytes: &[u8], load: &dyn Fn(&[u8]) -> Result<(), Error>) {
        assert!(load(bytes).is_ok());
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let (header, tensors) = (&bytes[8..8 + length], &bytes[8 + length..]);
        let text = std::str::from_utf8(header).unwrap().trim_end();
        let file = |header: &str| [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), tensors].concat();
        let blanks = text.len().next_multiple_of(8) - text.len();
        assert_eq!(file(&format!("{text}{}", " ".repeat(blanks))), bytes);
        let fill = |byte: char, count: usize| byte.to_string().repeat(count);
        for byte in ['\0', '\t', '\n', '\r', 'x', '\u{7f}'] {
            let count = if blanks == 0 { 8 } else { blanks };
            assert!(load(&file(&format!("{text}{}", fill(byte, count)))).is_err(), "{byte:?}");
        }
        for header in [
            format!("{text}{}", fill(' ', blanks + 8)),
            format!("{text}{}", fill(' ', blanks + 1)),
            format!("{}{text}", fill(' ', blanks + 8)),
            format!("{}{text}{}", fill(' ', 8), fill(' ', blanks)),
        ] {
            assert!(load(&file(&header)).is_err(), "{header:?}");
        }
    }
}
