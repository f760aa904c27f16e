//! What is free, what has been touched, and what of it is worth giving back to the system: the pool's book-keeping, without a pointer.

use crate::spans::{Given, Span, Spans};

/// Bytes of a unit: a line of the processor's cache. Arrays begin and end at one.
pub(crate) const UNIT: usize = 64;
/// Bytes of a large page.
pub(crate) const PAGE: usize = 2 << 20;
const UNITS_A_PAGE: u32 = (PAGE / UNIT) as u32;
/// Pages of the pool.
pub(crate) const PAGES: usize = 2048;
/// The least that is asked of the pool, and so the most parts that it can be in.
pub(crate) const LEAST: usize = 32 << 10;
const PARTS: usize = PAGES * PAGE / LEAST + 1;
/// Touched pages that are kept for the next who asks; beyond that the system has them back.
const KEPT: u32 = 16;

/// A bit for each page of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pages([u64; PAGES / 64]);

impl Pages {
    const fn none() -> Self {
        Pages([0; PAGES / 64])
    }

    pub(crate) fn has(&self, page: u32) -> bool {
        self.0[page as usize / 64] >> (page % 64) & 1 == 1
    }

    fn set(&mut self, page: u32, has: bool) {
        let (word, bit) = (&mut self.0[page as usize / 64], 1 << (page % 64));
        *word = if has { *word | bit } else { *word & !bit };
    }
}

/// Pages from `start` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageRange {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The pages that a span has to itself.
fn within(span: Span) -> PageRange {
    let (start, end) = (span.start.div_ceil(UNITS_A_PAGE), span.end / UNITS_A_PAGE);
    PageRange { start, end: end.max(start) }
}

/// The pages that a span has a part of.
pub(crate) fn covering(span: Span) -> PageRange {
    PageRange { start: span.start / UNITS_A_PAGE, end: span.end.div_ceil(UNITS_A_PAGE) }
}

/// The pool's books.
pub(crate) struct Book {
    spans: Spans<PARTS>,
    /// Pages that may hold something else than zeros.
    touched: Pages,
    /// Touched pages all of which is free.
    idle: u32,
}

/// Units that were handed out.
pub(crate) struct Taken {
    pub(crate) start: u32,
    /// The pages that had been touched before.
    pub(crate) touched: Pages,
}

impl Book {
    /// Nothing is free until the pool is given to it.
    pub(crate) const fn closed() -> Self {
        Book { spans: Spans::none(), touched: Pages::none(), idle: 0 }
    }

    /// The pool is free.
    pub(crate) fn open(&mut self) {
        self.spans.give(Span::new(0, PAGES as u32 * UNITS_A_PAGE));
    }

    /// Takes units, from the smallest free part that has them.
    pub(crate) fn take(&mut self, units: u32) -> Option<Taken> {
        let whole = self.spans.take(units)?;
        Some(Taken { start: whole.start, touched: self.taken(whole, units) })
    }

    /// Takes units that begin at a place, if they are free.
    pub(crate) fn take_at(&mut self, start: u32, units: u32) -> bool {
        self.spans.take_at(start, units).map(|whole| self.taken(whole, units)).is_some()
    }

    /// Notes that units at the start of a free part were taken; returns what had been touched.
    fn taken(&mut self, whole: Span, units: u32) -> Pages {
        let (own, rest) = (Span::new(whole.start, units), Span { start: whole.start + units, ..whole });
        self.idle -= self.idle_in(whole) - self.idle_in(rest);
        let before = self.touched;
        let PageRange { start, end } = covering(own);
        (start..end).for_each(|page| self.touched.set(page, true));
        before
    }

    /// Gives units back; returns the pages that the system should have back, which are zeros once it has.
    pub(crate) fn give(&mut self, span: Span) -> Option<PageRange> {
        let Given { joined, whole } = self.spans.give(span)?;
        let known: u32 = joined.into_iter().flatten().map(|other| self.idle_in(other)).sum();
        self.idle += self.idle_in(whole) - known;
        if self.idle <= KEPT {
            return None;
        }
        let PageRange { start, end } = within(whole);
        let mut touched = (start..end).filter(|&page| self.touched.has(page));
        let first = touched.next()?;
        let range = PageRange { start: first, end: touched.next_back().unwrap_or(first) + 1 };
        self.idle -= self.idle_in(whole);
        (range.start..range.end).for_each(|page| self.touched.set(page, false));
        Some(range)
    }

    fn idle_in(&self, span: Span) -> u32 {
        let PageRange { start, end } = within(span);
        (start..end).filter(|&page| self.touched.has(page)).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Random;

    fn open() -> Box<Book> {
        let mut book = Box::new(Book::closed());
        book.open();
        book
    }

    #[test]
    fn pages_that_were_never_touched_are_known() {
        let mut book = open();
        let first = book.take(UNITS_A_PAGE / 2).unwrap();
        assert!(!first.touched.has(0));
        let second = book.take(UNITS_A_PAGE).unwrap();
        assert!(second.touched.has(0) && !second.touched.has(1));
        assert_eq!(second.start, UNITS_A_PAGE / 2);
        assert_eq!(book.give(Span::new(first.start, UNITS_A_PAGE / 2)), None);
        assert!(book.take(1).unwrap().touched.has(0));
    }

    #[test]
    fn a_few_idle_pages_are_kept_and_the_others_given_back() {
        let mut book = open();
        let size = 10 * UNITS_A_PAGE;
        let (one, two) = (book.take(size).unwrap().start, book.take(size).unwrap().start);
        assert_eq!(book.give(Span::new(one, size)), None);
        assert_eq!(book.idle, 10);
        assert!(book.take(size).unwrap().touched.has(9));
        assert_eq!(book.idle, 0);
        assert_eq!(book.give(Span::new(one, size)), None);
        let released = book.give(Span::new(two, size));
        assert_eq!(released, Some(PageRange { start: 0, end: 20 }));
        assert_eq!(book.idle, 0);
        assert!(!book.take(size).unwrap().touched.has(3));
    }

    #[test]
    fn a_page_that_is_used_in_part_is_not_given_back() {
        let mut book = open();
        let (little, much) = (5, 20 * UNITS_A_PAGE);
        let (one, two, three) = (book.take(little).unwrap(), book.take(much).unwrap(), book.take(little).unwrap());
        assert_eq!(book.give(Span::new(two.start, much)), Some(PageRange { start: 1, end: 20 }));
        assert!(book.touched.has(0) && book.touched.has(20));
        assert_eq!(book.give(Span::new(one.start, little)), None);
        assert_eq!(book.give(Span::new(three.start, little)), None);
        assert_eq!(book.idle, 2);
    }

    /// Random calls; after each the number of idle pages is counted anew.
    #[test]
    fn idle_pages_are_counted_right() {
        for seed in 1..20u64 {
            let mut numbers = Random::new(seed);
            let mut random = |below: u32| numbers.below(below as usize) as u32;
            let mut book = open();
            let mut taken: Vec<Span> = Vec::new();
            for _ in 0..300 {
                if random(5) > 1 {
                    let units = 1 + random(6 * UNITS_A_PAGE);
                    let start = book.take(units).unwrap().start;
                    taken.push(Span::new(start, units));
                } else if !taken.is_empty() {
                    let span = taken.swap_remove(random(taken.len() as u32) as usize);
                    let units = 1 + random(UNITS_A_PAGE);
                    match random(3) {
                        0 if book.take_at(span.end, units) => taken.push(Span { end: span.end + units, ..span }),
                        _ => assert!(book.give(span).is_none_or(|range| range.start < range.end)),
                    }
                }
                let counted: u32 = book.spans.free().iter().map(|&span| book.idle_in(span)).sum();
                assert_eq!(book.idle, counted, "seed {seed}");
                assert!(book.idle <= KEPT + 6 * 300, "seed {seed}");
                for span in &taken {
                    let PageRange { start, end } = covering(*span);
                    assert!((start..end).all(|page| book.touched.has(page)), "seed {seed}");
                }
            }
        }
    }
}
