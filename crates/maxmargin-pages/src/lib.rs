//! Large pages for large arrays, and the same ones again.
//!
//! Memory that is touched for the first time is handed out by the system a page at a time, which shows in programs that read much and compute
//! little on it. Linux has pages of 2 MiB, beside those of 4 KiB, for those who ask; and what is given back and asked for again would be
//! touched for the first time each time. [`LargePages`] takes arrays of 32 KiB to 64 MiB out of a pool of large pages, which keeps some of what it is
//! given back. Everything else is the system's allocator, which is asked for large pages where an allocation holds several.
//! A program, or an extension module, switches it on for itself:
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
//! Large pages are advice: a system that has none to give, or is set up not to (`/sys/kernel/mm/transparent_hugepage/enabled`), gives small
//! ones. Other systems than Linux have their own allocator alone.
//!
//! `spans.rs` and `book.rs` know what is free, in numbers; `pool.rs` makes addresses of them.

// The trait of allocators is unsafe, and so are the calls that ask the system.
#![allow(unsafe_code)]

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod book;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod pool;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod spans;

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with a pool of large pages for large arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

/// Without a pool every array is the system's.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod pool {
    use std::alloc::Layout;

    pub(crate) fn serves(_: Layout) -> bool {
        false
    }

    pub(crate) fn owns(_: *mut u8) -> bool {
        false
    }

    pub(crate) fn take(_: usize, _: bool) -> Option<*mut u8> {
        None
    }

    pub(crate) fn give(_: *mut u8, _: usize) {}

    pub(crate) fn resize(_: *mut u8, _: usize, _: usize) -> bool {
        false
    }
}

// SAFETY: an array is the pool's or the system's, whose allocator is handed every call of its own as it is. The pool hands out what is free, at
// the start of a unit, which is as aligned as `serves` lets anybody ask for; what it calls zeros it has cleared, or the system has. The size with
// which an array is given back is the one that it was last asked for with, as callers promise.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pooled = if pool::serves(layout) { pool::take(layout.size(), false) } else { None };
        // SAFETY: as the caller promises.
        pooled.unwrap_or_else(|| advised(unsafe { System.alloc(layout) }, layout.size()))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let pooled = if pool::serves(layout) { pool::take(layout.size(), true) } else { None };
        // SAFETY: as the caller promises.
        pooled.unwrap_or_else(|| advised(unsafe { System.alloc_zeroed(layout) }, layout.size()))
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size, rounded up, is not too large.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (own, serves) = (pool::owns(start), pool::serves(wanted));
        if own && serves && pool::resize(start, layout.size(), size) {
            return start;
        }
        let grows_into_it = serves && !pool::serves(layout) && layout.size() < size;
        if !(own || grows_into_it) {
            // SAFETY: as the caller promises.
            return advised(unsafe { System.realloc(start, layout, size) }, size);
        }
        // SAFETY: as the caller promises. The new array is another one, and both have the bytes that are copied.
        unsafe {
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                start.copy_to_nonoverlapping(moved, layout.size().min(size));
                self.dealloc(start, layout);
            }
            moved
        }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        match pool::owns(start) {
            true => pool::give(start, layout.size()),
            // SAFETY: as the caller promises.
            false => unsafe { System.dealloc(start, layout) },
        }
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
#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: LargePages = LargePages;

    /// At the ends of what the pool serves and of what is advised.
    const SIZES: [usize; 14] = [
        0,
        1,
        4095,
        (32 << 10) - 1,
        32 << 10,
        (32 << 10) + 1,
        PAGE - 1,
        PAGE,
        LARGE - 1,
        LARGE,
        3 * LARGE + 12345,
        (64 << 20) - 1,
        64 << 20,
        (64 << 20) + 1,
    ];

    #[test]
    fn arrays_of_every_size_keep_what_is_written_to_them() {
        for size in SIZES {
            let mut bytes = vec![0u8; size];
            assert!(bytes.iter().all(|&byte| byte == 0), "{size}");
            bytes.iter_mut().enumerate().for_each(|(k, byte)| *byte = k as u8);
            bytes.reserve_exact(2 * size + 1);
            bytes.resize(2 * size, 7);
            bytes.shrink_to(size / 2);
            assert!(bytes[..size].iter().enumerate().all(|(k, &byte)| byte == k as u8), "{size}");
            assert!(bytes[size..].iter().all(|&byte| byte == 7), "{size}");
            bytes.truncate(size / 3);
            bytes.shrink_to_fit();
            assert!(bytes.iter().enumerate().all(|(k, &byte)| byte == k as u8), "{size}");
        }
    }

    #[test]
    fn alignment_is_kept() {
        for align in [1, 64, 128, 4096, PAGE] {
            for size in [32 << 10, LARGE + 5] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the layout has a size, and the memory is given back with it.
                unsafe {
                    let start = LargePages.alloc(layout);
                    assert!(!start.is_null() && start.align_offset(align) == 0, "{align}");
                    start.write_bytes(1, layout.size());
                    LargePages.dealloc(start, layout);
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize / 2, 8).unwrap();
        // SAFETY: the layout has a size; nothing is given that would have to be given back.
        assert!(unsafe { LargePages.alloc(layout) }.is_null());
    }

    /// Numbers at random, from a seed.
    pub(crate) struct Random(u64);

    impl Random {
        pub(crate) fn new(seed: u64) -> Self {
            Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }

        pub(crate) fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 33) as usize % limit
        }
    }

    /// Four threads ask, write, grow, shrink and give back at random; a byte that another array wrote would show, and so would one
    /// that is not 0 where zeros were asked for.
    #[test]
    fn arrays_of_several_threads_are_their_own() {
        std::thread::scope(|scope| {
            for seed in 1..=4u64 {
                scope.spawn(move || {
                    let mut random = Random::new(seed);
                    let mut arrays: Vec<(Vec<u8>, u8)> = Vec::new();
                    for _ in 0..2000 {
                        let size = 1 << random.below(22);
                        let size = size + random.below(size);
                        if arrays.len() < 12 && random.below(3) > 0 {
                            let mark = random.below(255) as u8 + 1;
                            let mut array = vec![0u8; size];
                            assert!(array.iter().all(|&byte| byte == 0), "seed {seed}");
                            array.fill(mark);
                            arrays.push((array, mark));
                        } else if !arrays.is_empty() {
                            let place = random.below(arrays.len());
                            let (mut array, mark) = arrays.swap_remove(place);
                            assert!(array.iter().all(|&byte| byte == mark), "seed {seed}");
                            if random.below(2) == 0 {
                                array.resize(size, mark);
                                array.shrink_to_fit();
                                arrays.push((array, mark));
                            }
                        }
                    }
                    for (array, mark) in arrays {
                        assert!(array.iter().all(|&byte| byte == mark), "seed {seed}");
                    }
                });
            }
        });
    }

    /// The child of a process whose threads are at the pool can ask for memory, too.
    #[test]
    fn a_child_goes_on_with_the_pool() {
        // The pool is there before anybody forks: it is then that forks begin to wait for its book.
        drop(std::hint::black_box(vec![1u8; 40 << 10]));
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::black_box(vec![1u8; 40 << 10]);
                }
            });
            for _ in 0..200 {
                // SAFETY: the child asks for memory of the pool, and ends at once.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    let array = std::hint::black_box(vec![3u8; 100 << 10]);
                    // SAFETY: ends the child without anything of its parent's.
                    unsafe { libc::_exit(i32::from(array.iter().any(|&byte| byte != 3))) };
                }
                let mut status = -1;
                // SAFETY: waits for the child that was made above.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0);
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
