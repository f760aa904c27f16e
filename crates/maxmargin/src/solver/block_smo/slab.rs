//! A large piece of memory that costs nothing before it is touched.

use bytemuck::Pod;
use memmap2::MmapMut;

/// Numbers, all 0 at first, in pages as large as the system has them: the first touch of small ones would cost more than
/// the numbers in them.
pub(super) struct Slab {
    pages: Option<MmapMut>,
}

impl Slab {
    /// Room for nothing.
    pub(super) fn empty() -> Self {
        Slab { pages: None }
    }

    /// Room for `count` numbers; `None` when the system refuses.
    pub(super) fn new<T: Pod>(count: usize) -> Option<Self> {
        let bytes = count.checked_mul(size_of::<T>())?;
        if bytes == 0 {
            return Some(Slab::empty());
        }
        let pages = MmapMut::map_anon(bytes).ok()?;
        // Advice may be refused, and is then of no use.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Some(Slab { pages: Some(pages) })
    }

    pub(super) fn numbers<T: Pod>(&self) -> &[T] {
        self.pages.as_ref().map_or(&[], |pages| bytemuck::cast_slice(pages))
    }

    pub(super) fn numbers_mut<T: Pod>(&mut self) -> &mut [T] {
        self.pages.as_mut().map_or(&mut [], |pages| bytemuck::cast_slice_mut(pages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slab_holds_zeros_and_then_what_is_written() {
        let mut slab = Slab::new::<f32>(3000).unwrap();
        assert!(slab.numbers::<f32>().iter().all(|&number| number == 0.0));
        slab.numbers_mut::<f32>()[2999] = 1.5;
        assert_eq!(slab.numbers::<f32>()[2999], 1.5);
        assert!(Slab::empty().numbers::<f64>().is_empty());
        assert!(Slab::new::<f64>(usize::MAX).is_none());
    }
}
