//! A large piece of memory that the system provides page by page, as it is touched.

use bytemuck::Pod;
use memmap2::MmapMut;

/// Numbers, all 0 at first, in the largest pages of the system. First touches of small pages would take longer than computing the numbers.
pub(super) struct Slab {
    pages: Option<MmapMut>,
}

impl Slab {
    /// Memory of size 0.
    pub(super) fn empty() -> Self {
        Slab { pages: None }
    }

    /// Memory for `count` numbers; `None` when the system refuses.
    pub(super) fn new<T: Pod>(count: usize) -> Option<Self> {
        let bytes = count.checked_mul(size_of::<T>())?;
        if bytes == 0 {
            return Some(Slab::empty());
        }
        let pages = MmapMut::map_anon(bytes).ok()?;
        // The system may ignore the advice.
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
