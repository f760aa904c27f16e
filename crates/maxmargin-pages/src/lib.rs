//! Large pages for large arrays.
//!
//! Memory that is touched for the first time is handed out by the system a page at a time, which shows in programs that read much and compute
//! little on it. Linux has pages of 2 MiB, beside those of 4 KiB, for those who ask. [`LargePages`] is the system's allocator, which asks
//! for them where an allocation holds several. A program, or an extension module, switches it on for itself:
//!
//! ```
//! use maxmargin_pages::LargePages;
//!
//! #[global_allocator]
//! static ALLOCATOR: LargePages = LargePages;
//!
//! # fn main() {
//! assert_eq!(vec![0.0; 1 << 20].iter().sum::<f64>(), 0.0);
//! # }
//! ```
//!
//! It is advice: a system that has none to give, or is set up not to (`/sys/kernel/mm/transparent_hugepage/enabled`), gives small
//! ones, as every other system does.

// The trait of allocators is unsafe, and so is the call that gives the advice.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with large pages for large arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

// SAFETY: every call is handed to the system's allocator as it is; advice changes neither addresses nor contents.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        advised(unsafe { System.realloc(start, layout, size) }, size)
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(start, layout) }
    }
}

/// A large page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;
/// Bytes from which an allocation is worth a call.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 * PAGE;

/// Asks for large pages where whole ones lie within an allocation, so that its neighbours notice nothing.
#[cfg(target_os = "linux")]
fn advised(start: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !start.is_null() {
        let before = start.align_offset(PAGE);
        let whole = size.saturating_sub(before) / PAGE * PAGE;
        if whole > 0 {
            // SAFETY: the range lies within an allocation that is being handed out, and this advice changes no byte of it. Where it is not
            // taken, nothing is lost.
            unsafe { libc::madvise(start.wrapping_add(before).cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
    start
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
fn advised(start: *mut u8, _: usize) -> *mut u8 {
    start
}

// The sizes are those of Linux.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: LargePages = LargePages;

    #[test]
    fn arrays_of_every_size_keep_what_is_written_to_them() {
        for size in [0, 1, 4095, 4096, PAGE - 1, PAGE, LARGE - 1, LARGE, LARGE + 1, 3 * LARGE + 12345] {
            let mut bytes = vec![0u8; size];
            assert!(bytes.iter().all(|&byte| byte == 0), "{size}");
            bytes.iter_mut().enumerate().for_each(|(k, byte)| *byte = k as u8);
            bytes.reserve_exact(2 * size + 1);
            bytes.resize(2 * size, 7);
            bytes.shrink_to(size / 2);
            assert!(bytes[..size].iter().enumerate().all(|(k, &byte)| byte == k as u8), "{size}");
            assert!(bytes[size..].iter().all(|&byte| byte == 7), "{size}");
        }
    }

    #[test]
    fn alignment_is_kept() {
        for align in [1, 64, 4096, PAGE] {
            let layout = Layout::from_size_align(LARGE + 5, align).unwrap();
            // SAFETY: the layout has a size, and the memory is given back with it.
            unsafe {
                let start = LargePages.alloc(layout);
                assert!(!start.is_null() && start.align_offset(align) == 0, "{align}");
                start.write_bytes(1, layout.size());
                LargePages.dealloc(start, layout);
            }
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize / 2, 8).unwrap();
        // SAFETY: the layout has a size; nothing is given that would have to be given back.
        assert!(unsafe { LargePages.alloc(layout) }.is_null());
    }
}
