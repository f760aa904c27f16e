//! Numbers that somebody owns: us, a memory map, or another language's array.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An immutable, shared run of numbers. A clone costs a reference count, whoever owns the memory.
///
/// # Examples
/// ```
/// let buffer = maxmargin::data::Buffer::from(vec![1.0, 2.0]);
/// assert_eq!(buffer.clone().as_ptr(), buffer.as_ptr());
/// ```
pub struct Buffer<T>(Arc<dyn AsRef<[T]> + Send + Sync>);

impl<T> Buffer<T> {
    /// Shares memory that `owner` keeps alive, without a copy.
    pub fn shared(owner: Arc<dyn AsRef<[T]> + Send + Sync>) -> Self {
        Buffer(owner)
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Buffer(Arc::clone(&self.0))
    }
}

impl<T: Send + Sync + 'static> From<Vec<T>> for Buffer<T> {
    fn from(numbers: Vec<T>) -> Self {
        Buffer(Arc::new(numbers))
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        (*self.0).as_ref()
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}
