//! Threads as a value: a solver uses the ones it is handed, and no others.
//!
//! Work is cut into chunks whose size depends on the work alone, and partial results are folded in the order of
//! the chunks, so the same bits come out for any number of threads.

use std::sync::Mutex;

#[cfg(feature = "threads")]
use rayon::prelude::*;

use crate::error::{Error, Parameter};
#[cfg(not(feature = "threads"))]
use alone::Pool;
#[cfg(not(feature = "threads"))]
pub(crate) use alone::Scope;
#[cfg(feature = "threads")]
pub(crate) use rayon::Scope;

/// The threads of a team.
#[cfg(feature = "threads")]
type Pool = std::sync::Arc<rayon::ThreadPool>;

/// A build without threads: there are no teams.
#[cfg(not(feature = "threads"))]
mod alone {
    use std::convert::Infallible;
    use std::marker::PhantomData;

    /// A team that cannot be.
    #[derive(Clone, Debug)]
    pub(super) enum Pool {}

    /// The scope of a team that cannot be.
    pub(crate) struct Scope<'s>(Infallible, PhantomData<fn(&'s ())>);

    impl<'s> Scope<'s> {
        pub(crate) fn spawn(&self, _: impl FnOnce(&Scope<'s>) + Send + 's) {
            match self.0 {}
        }
    }
}

/// Multiplications up to which a fit or a prediction is over before a team of threads has come: some milliseconds. With more of them small
/// fits take longer alone than in a team; the bits are the same either way.
const SMALL_WORK: usize = 16_000_000;

/// Numbers that a thread makes or looks at at a time.
const NUMBERS_A_CHUNK: usize = 1 << 14;

/// A team of threads, or none. Clones share the team.
#[derive(Clone, Debug, Default)]
pub struct Workers {
    pool: Option<Pool>,
}

impl Workers {
    /// Everything on the calling thread.
    pub fn none() -> Self {
        Workers { pool: None }
    }

    /// A team of `threads` threads; 0 means one for each core, and in a build without the feature `threads` the calling thread.
    ///
    /// # Errors
    /// When `threads` is over 1024, the system refuses to start them, or the build is without threads.
    pub fn new(threads: usize) -> Result<Self, Error> {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if threads > 0 {
            threads
        } else if cfg!(feature = "threads") {
            cores()
        } else {
            1
        };
        if threads > 1024 {
            return Err(Error::parameter(Parameter::Threads, threads, "from 0 (all cores) to 1024"));
        }
        if threads == 1 {
            return Ok(Self::none());
        }
        start(threads).map(|pool| Workers { pool: Some(pool) })
    }

    /// Whether a fit or a prediction of this many multiplications is over before a team of threads has come.
    pub fn are_idle_for(multiplications: usize) -> bool {
        multiplications < SMALL_WORK
    }

    /// How many threads work at once.
    pub fn threads(&self) -> usize {
        match &self.pool {
            #[cfg(feature = "threads")]
            Some(pool) => pool.current_num_threads(),
            _ => 1,
        }
    }

    /// Calls `work` on a thread of the team, which then takes part in the pieces that `work` hands out. From outside, each piece would have to
    /// wake two threads: the one that does it and the one that waits for it.
    pub(crate) fn inside<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            #[cfg(feature = "threads")]
            Some(pool) => pool.install(work),
            _ => work(),
        }
    }

    /// Calls `work(k)` for each k below `count`, on all threads.
    ///
    /// All other ways to hand out work end here: what rayon needs is compiled once, and not again for each closure.
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        match &self.pool {
            #[cfg(feature = "threads")]
            Some(pool) if count > 1 => pool.install(|| (0..count).into_par_iter().for_each(work)),
            _ => (0..count).for_each(work),
        }
    }

    /// Calls `work(k, item)` for the k-th item, each once, and hands back the results in order.
    fn each_item<T: Send, R: Send>(
        &self,
        items: impl Iterator<Item = T>,
        work: impl Fn(usize, T) -> R + Sync,
    ) -> Vec<R> {
        if self.pool.is_none() {
            return items.enumerate().map(|(k, item)| work(k, item)).collect();
        }
        let places: Vec<Mutex<Place<T, R>>> = items.map(|item| Mutex::new(Place::Waiting(item))).collect();
        self.each(places.len(), &|k| {
            // Each place is visited by one thread, so no lock is ever waited for.
            if let Ok(mut place) = places[k].lock()
                && let Place::Waiting(item) = std::mem::replace(&mut *place, Place::Taken)
            {
                *place = Place::Done(work(k, item));
            }
        });
        let done = |place: Mutex<Place<T, R>>| match place.into_inner() {
            Ok(Place::Done(result)) => Some(result),
            _ => None,
        };
        places.into_iter().filter_map(done).collect()
    }

    /// Cuts `out` into chunks of `size` and calls `work(start, chunk)` for each, on all threads.
    pub fn fill_chunks<T: Send>(&self, out: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
        let size = size.max(1);
        self.each_item(out.chunks_mut(size), |k, chunk| work(k * size, chunk));
    }

    /// [`Workers::fill_chunks`], and the results of `work` in the order of the chunks.
    pub(crate) fn fill_and_map<T: Send, R: Send>(
        &self,
        out: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) -> R + Sync,
    ) -> Vec<R> {
        let size = size.max(1);
        self.each_item(out.chunks_mut(size), |k, chunk| work(k * size, chunk))
    }

    /// `of(i)` for each i below `count`, on all threads.
    pub(crate) fn numbers<T: Send>(&self, len: usize, of: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        match &self.pool {
            #[cfg(feature = "threads")]
            Some(pool) if len > NUMBERS_A_CHUNK => {
                pool.install(|| (0..len).into_par_iter().with_min_len(NUMBERS_A_CHUNK).map(of).collect())
            }
            _ => (0..len).map(of).collect(),
        }
    }

    /// `count` zeros, in memory that all threads have touched.
    pub(crate) fn zeros(&self, len: usize) -> Vec<f64> {
        self.numbers(len, |_| 0.0)
    }

    /// Multiplies each number by that of another list, on all threads.
    pub(crate) fn multiply(&self, numbers: &mut [f64], factors: &[f64]) {
        self.fill_chunks(numbers, NUMBERS_A_CHUNK, |start, chunk| {
            chunk.iter_mut().zip(&factors[start..]).for_each(|(number, factor)| *number *= factor);
        });
    }

    /// The place of the first item for which a condition holds, found on all threads.
    pub(crate) fn find<T: Sync>(&self, items: &[T], is_so: impl Fn(&T) -> bool + Sync) -> Option<usize> {
        if items.len() <= NUMBERS_A_CHUNK {
            return items.iter().position(is_so);
        }
        let found = self.map_chunks(items.len(), NUMBERS_A_CHUNK, |range| {
            // Most chunks have none, and a loop without an early end is faster.
            let any = items[range.clone()].iter().fold(false, |any, item| any | is_so(item));
            any.then(|| range.start + items[range].iter().position(&is_so).unwrap_or(0))
        });
        found.into_iter().flatten().next()
    }

    /// Calls `work` on this thread, with a scope whose tasks run on the team. `None`, and nothing is done, without a team.
    pub(crate) fn in_scope<'s, R>(&self, work: impl FnOnce(&Scope<'s>) -> R) -> Option<R> {
        match &self.pool {
            #[cfg(feature = "threads")]
            Some(pool) => Some(pool.in_place_scope(work)),
            _ => {
                drop(work);
                None
            }
        }
    }

    /// Calls `work` for each part, and hands back the results in order.
    pub fn map_parts<T: Send, R: Send>(&self, parts: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
        self.each_item(parts.iter_mut(), |_, part| work(part))
    }

    /// What `work` makes of each item, in order.
    pub(crate) fn map_all<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
        self.each_item(items.into_iter(), |_, item| work(item))
    }

    /// [`Workers::fill_chunks`], with a value that each thread makes once and uses for all its chunks.
    pub(crate) fn fill_chunks_with<T: Send, S: Send>(
        &self,
        out: &mut [T],
        size: usize,
        make: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, &mut [T]) + Sync,
    ) {
        let size = size.max(1);
        // What no thread is using.
        let idle: Mutex<Vec<S>> = Mutex::new(Vec::new());
        self.each_item(out.chunks_mut(size), |k, chunk| {
            let found = idle.lock().ok().and_then(|mut idle| idle.pop());
            let mut state = found.unwrap_or_else(&make);
            work(&mut state, k * size, chunk);
            if let Ok(mut idle) = idle.lock() {
                idle.push(state);
            }
        });
    }

    /// Calls `work` for each range of at most `size` within `0..len`, and hands back the results in order.
    pub fn map_chunks<R: Send>(
        &self,
        len: usize,
        size: usize,
        work: impl Fn(std::ops::Range<usize>) -> R + Sync,
    ) -> Vec<R> {
        let size = size.max(1);
        let range = |k: usize| k * size..((k + 1) * size).min(len);
        self.each_item(0..len.div_ceil(size), |k, _| work(range(k)))
    }
}

/// What is handed out, and what came of it.
enum Place<T, R> {
    Waiting(T),
    Taken,
    Done(R),
}

/// Starts the threads of a team.
#[cfg(feature = "threads")]
fn start(threads: usize) -> Result<Pool, Error> {
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    started.map(Pool::new).map_err(|reason| Error::Combination {
        what: format!("{threads} threads could not be started: {reason}"),
        help: "ask for fewer threads".into(),
    })
}

/// There are no threads to start.
#[cfg(not(feature = "threads"))]
fn start(threads: usize) -> Result<Pool, Error> {
    Err(Error::Combination {
        what: format!("{threads} threads were asked for, but this build has none"),
        help: "ask for 1, or build maxmargin with the feature `threads`".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_same_bits_for_any_number_of_threads() {
        let numbers: Vec<f64> = (0..10_001).map(|i| 1.0 / f64::from(i + 1)).collect();
        let sum = |workers: &Workers| -> f64 {
            workers.map_chunks(numbers.len(), 128, |range| numbers[range].iter().sum::<f64>()).iter().sum()
        };
        let alone = sum(&Workers::none());
        for threads in 2..6 {
            assert_eq!(sum(&Workers::new(threads).unwrap()).to_bits(), alone.to_bits());
        }
    }

    #[test]
    fn work_inside_the_team_hands_out_to_the_whole_team() {
        for threads in [1, 2, 3] {
            let workers = Workers::new(threads).unwrap();
            let caller = std::thread::current().id();
            let (own, sums) = workers
                .inside(|| (std::thread::current().id(), workers.map_chunks(1000, 10, |range| range.sum::<usize>())));
            assert_eq!(own == caller, threads == 1);
            assert_eq!(sums.iter().sum::<usize>(), 499_500);
        }
    }

    #[test]
    fn the_first_of_many_is_found_and_numbers_are_where_they_belong() {
        for workers in [Workers::none(), Workers::new(2).unwrap()] {
            let numbers = workers.numbers(100_000, |i| i as f64);
            assert!(numbers.iter().enumerate().all(|(i, &number)| number == i as f64));
            for (least, expected) in [(0.0, Some(0)), (16_383.0, Some(16_383)), (70_000.5, Some(70_001)), (1e9, None)] {
                assert_eq!(workers.find(&numbers, |&number| number >= least), expected);
            }
            assert_eq!(workers.find(&[] as &[f64], |_| true), None);
        }
    }

    #[test]
    fn chunks_of_nothing_are_nothing() {
        let workers = Workers::none();
        assert!(workers.map_chunks(0, 8, |range| range.len()).is_empty());
        workers.fill_chunks(&mut [] as &mut [f64], 0, |_, _| unreachable!());
    }
}
