//! Memory for large arrays: asked of the system once, in large pages, and handed out again and again.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::book::{Book, LEAST, PAGE, PAGES, PageRange, Taken, UNIT, covering};
use crate::spans::Span;

/// Addresses of the pool. They cost nothing until they are written to.
const SIZE: usize = PAGES * PAGE;
/// The most that is asked of the pool: what is larger is the system's own, so that it is refused or given back at once.
const MOST: usize = 64 << 20;
/// Where the pool begins when there is none to be had; no address is this one.
const NONE: usize = 1;

struct Pool {
    /// Whether a thread is at the book.
    busy: AtomicBool,
    /// Where the pool begins: 0 as long as nobody has asked.
    start: AtomicUsize,
    book: UnsafeCell<Book>,
}

// SAFETY: the book is touched only by the thread that has set `busy`.
unsafe impl Sync for Pool {}

static POOL: Pool =
    Pool { busy: AtomicBool::new(false), start: AtomicUsize::new(0), book: UnsafeCell::new(Book::closed()) };

/// Whether the pool hands out such arrays.
pub(crate) fn serves(layout: Layout) -> bool {
    (LEAST..=MOST).contains(&layout.size()) && layout.align() <= UNIT
}

/// Whether an array is the pool's.
pub(crate) fn owns(array: *mut u8) -> bool {
    let start = POOL.start.load(Ordering::Relaxed);
    start > NONE && array.addr().wrapping_sub(start) < SIZE
}

/// An array of a size that [`serves`] allows, of whatever the memory holds or of zeros; `None` where the pool has none.
pub(crate) fn take(size: usize, zeroed: bool) -> Option<*mut u8> {
    let taken = with_book(|book| book.take(units(size)))?;
    let start = POOL.start.load(Ordering::Relaxed);
    if zeroed {
        clear(start, &taken, size);
    }
    Some(ptr::with_exposed_provenance_mut(start + taken.start as usize * UNIT))
}

/// Gives an array back.
pub(crate) fn give(array: *mut u8, size: usize) {
    let span = Span::new(place(array), units(size));
    with_book(|book| release(book, span));
}

/// Makes an array larger or smaller where it is; whether that was possible.
pub(crate) fn resize(array: *mut u8, from: usize, to: usize) -> bool {
    let (start, old, new) = (place(array), units(from), units(to));
    match new > old {
        true => with_book(|book| book.take_at(start + old, new - old)),
        false => {
            if new < old {
                with_book(|book| release(book, Span::new(start + new, old - new)));
            }
            true
        }
    }
}

fn units(size: usize) -> u32 {
    size.div_ceil(UNIT) as u32
}

fn place(array: *mut u8) -> u32 {
    ((array.addr() - POOL.start.load(Ordering::Relaxed)) / UNIT) as u32
}

/// Writes zeros where a page may hold something else.
fn clear(start: usize, taken: &Taken, size: usize) {
    let first = taken.start as usize * UNIT;
    let PageRange { start: page, end } = covering(Span::new(taken.start, units(size)));
    for page in (page..end).filter(|&page| taken.touched.has(page)) {
        let (from, to) = ((page as usize * PAGE).max(first), ((page as usize + 1) * PAGE).min(first + size));
        // SAFETY: these bytes are part of the array that is being handed out.
        unsafe { ptr::with_exposed_provenance_mut::<u8>(start + from).write_bytes(0, to - from) };
    }
}

/// Gives units back to the book, and what it has no use for to the system.
fn release(book: &mut Book, span: Span) {
    if let Some(PageRange { start, end }) = book.give(span) {
        let from = POOL.start.load(Ordering::Relaxed) + start as usize * PAGE;
        // SAFETY: these pages are free, and nobody takes them while the book is held. They hold zeros afterwards, as the book says.
        unsafe {
            let from = ptr::with_exposed_provenance_mut(from);
            libc::madvise(from, (end - start) as usize * PAGE, libc::MADV_DONTNEED);
        }
    }
}

/// Looks into the book, alone.
fn with_book<R>(look: impl FnOnce(&mut Book) -> R) -> R {
    lock();
    // SAFETY: no other thread is at the book, and `look` calls nothing that would come here again.
    let book = unsafe { &mut *POOL.book.get() };
    if POOL.start.load(Ordering::Relaxed) == 0 {
        let start = reserve();
        if start != NONE {
            book.open();
        }
        POOL.start.store(start, Ordering::Relaxed);
    }
    let found = look(book);
    unlock();
    found
}

extern "C" fn lock() {
    // Others are done within microseconds.
    while POOL.busy.swap(true, Ordering::Acquire) {
        std::thread::yield_now();
    }
}

extern "C" fn unlock() {
    POOL.busy.store(false, Ordering::Release);
}

/// Addresses for the pool, at the start of a page.
fn reserve() -> usize {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: new addresses of the system's choice; nothing that is there is touched.
    let found = unsafe { libc::mmap(ptr::null_mut(), SIZE + PAGE, access, kind, -1, 0) };
    if found == libc::MAP_FAILED {
        return NONE;
    }
    let start = found.expose_provenance().next_multiple_of(PAGE);
    // A program that needs little is not to wait for a whole page: the first one is in small ones.
    // SAFETY: the advice changes no byte. A child must not find the book locked by a thread that it does not have: whoever forks waits
    // for the book, and both sides go on without holding it.
    unsafe {
        libc::madvise(ptr::with_exposed_provenance_mut(start + PAGE), SIZE - PAGE, libc::MADV_HUGEPAGE);
        libc::pthread_atfork(Some(lock), Some(unlock), Some(unlock));
    }
    start
}
