//! Memory of numpy arrays as ours, without a copy. This is the only file of the module with unsafe code.

#![allow(unsafe_code)]

use std::sync::Arc;

use maxmargin::data::Buffer;
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// The numbers of an array that Python owns, and what keeps them alive.
struct Borrowed<T> {
    start: *const T,
    len: usize,
    /// Never read: the memory is there as long as this is.
    _owner: Py<PyAny>,
}

// SAFETY: the numbers are only read, whichever thread does it, and `Py` may be dropped on any thread. That nobody else writes to
// them meanwhile is for the caller to see to, as it is for numpy's own functions that release the interpreter lock; the numbers are
// plain, so that a write that does happen can spoil a result, and no more than that is made of them: sizes and indices are
// checked anew where they are used as such.
unsafe impl<T: Sync> Send for Borrowed<T> {}
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T> AsRef<[T]> for Borrowed<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: `start` is aligned and valid for `len` numbers while the owner lives: see `buffer`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// The numbers of a C-contiguous array, shared; `None` when its memory is laid out otherwise.
pub(crate) fn buffer<T: Element + Send + Sync + Copy + 'static>(array: &Bound<'_, PyArrayDyn<T>>) -> Option<Buffer<T>> {
    if !array.is_c_contiguous() || !(array.data() as usize).is_multiple_of(align_of::<T>()) {
        return None;
    }
    if array.len() == 0 {
        return Some(Vec::new().into());
    }
    // A C-contiguous array of numpy's holds `len` numbers from `data` on. The array object owns them, or keeps alive who does, and numpy
    // does not move them: an array that somebody else refers to is not resized.
    let borrowed =
        Borrowed { start: array.data().cast_const(), len: array.len(), _owner: array.clone().into_any().unbind() };
    Some(Buffer::shared(Arc::new(borrowed)))
}

/// The array as unsigned numbers. A negative number becomes one that is out of every range.
pub(crate) fn unsigned(array: &Bound<'_, PyArrayDyn<i32>>) -> Option<Buffer<u32>> {
    if !array.is_c_contiguous() || !(array.data() as usize).is_multiple_of(align_of::<u32>()) {
        return None;
    }
    if array.len() == 0 {
        return Some(Vec::new().into());
    }
    let borrowed = Borrowed {
        start: array.data().cast_const().cast::<u32>(),
        len: array.len(),
        _owner: array.clone().into_any().unbind(),
    };
    Some(Buffer::shared(Arc::new(borrowed)))
}
