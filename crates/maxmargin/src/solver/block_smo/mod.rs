//! `block-smo`
use std::ops::ControlFlow;

mod block;
mod rows;
mod slab;
mod slots;

use super::smo::{self, DualSolution};
use super::{Settings, Solution, SolverKind, requirements};
use crate::control::{Control, Progress, Stop};
use crate::error::Error;
use crate::kernel::Tiles;
use crate::problem::{Coupling, DualProblem, Loss, MarginProblem};
use crate::simd::Real;
use block::Block;
use rows::KernelRows;

pub(super) fn supports(problem: &MarginProblem<'_>, settings: &Settings) -> Result<(), Error> {
    requirements::loss(SolverKind::BlockSmo, problem, &[Loss::Hinge, Loss::Squared])?;
    let _ = settings;
    Ok(())
}

pub(super) fn solve(problem: &MarginProblem<'_>, settings: &Settings, control: &mut dyn Control) -> Solution {
    super::solve_by_dual(problem, |dual| solve_dual(dual, settings, control))
}

fn env(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

pub(crate) fn solve_dual(problem: &DualProblem<'_>, settings: &Settings, control: &mut dyn Control) -> DualSolution {
    let mut engine = Engine::<f32>::new(problem, settings);
    engine.run(settings, control)
}

/// Working state.
struct Engine<'a, T: Real> {
    problem: &'a DualProblem<'a>,
    tiles: Tiles<'a, T>,
    rows: KernelRows<'a, T>,
    block: Block<T>,
    alpha: Vec<f64>,
    /// v of the active variables; others stale.
    value: Vec<f64>,
    is_active: Vec<bool>,
    /// u of variables that are not active is unknown.
    working: Vec<u32>,
    idle: Vec<u8>,
    steps: u64,
}

#[derive(Clone, Copy, Debug)]
struct Extremes {
    most: f64,
    least: f64,
}

impl<'a, T: Real> Engine<'a, T> {
    fn new(problem: &'a DualProblem<'a>, settings: &Settings) -> Self {
        let n = problem.len();
        let gram = problem.gram();
        let tiles = Tiles::new(gram.kernel(), gram.points());
        let sums = vec![0.0; n];
        let rows = KernelRows::new(tiles, problem.rows(), &sums, gram.workers(), settings.memory);
        Engine {
            problem,
            tiles,
            rows,
            block: Block::new(),
            alpha: problem.start().to_vec(),
            value: vec![0.0; n],
            is_active: vec![true; n],
            working: Vec::new(),
            idle: vec![0; n],
            steps: 0,
        }
    }

    fn refresh(&mut self) {
        let (problem, alpha, value) = (self.problem, &self.alpha, &mut self.value);
        let (signs, linear, ridge) = (problem.signs(), problem.linear(), problem.ridge());
        self.rows.visit(|k, sum| {
            let k = k as usize;
            value[k] = -(sum + signs[k] * (ridge[k] * alpha[k] + linear[k]));
        });
    }

    fn up(&self, k: usize) -> bool {
        if self.problem.signs()[k] > 0.0 { self.alpha[k] < self.problem.upper()[k] } else { self.alpha[k] > 0.0 }
    }

    fn down(&self, k: usize) -> bool {
        if self.problem.signs()[k] > 0.0 { self.alpha[k] > 0.0 } else { self.alpha[k] < self.problem.upper()[k] }
    }

    fn extremes(&self) -> Extremes {
        let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
        self.rows.visit(|k, _| {
            let k = k as usize;
            let value = self.value[k];
            if self.up(k) && value > most {
                most = value;
            }
            if self.down(k) && value < least {
                least = value;
            }
        });
        Extremes { most, least }
    }

    fn choose(&self, size: usize, keep: usize, extremes: Extremes) -> Vec<u32> {
        let mut chosen: Vec<u32> = Vec::with_capacity(size);
        let mut taken = vec![false; self.alpha.len()];
        // newest of the working set first
        for &k in self.working.iter().rev() {
            if chosen.len() >= keep {
                break;
            }
            if self.is_active[k as usize] && !taken[k as usize] {
                let (k_, v) = (k as usize, self.value[k as usize]);
                let free = self.up(k_) && self.down(k_);
                let violates = (self.up(k_) && v > extremes.least) || (self.down(k_) && v < extremes.most);
                if free || violates {
                    taken[k as usize] = true;
                    chosen.push(k);
                }
            }
        }
        chosen.reverse();
        let room = size - chosen.len();
        let mut rising: Vec<(f64, u32)> = Vec::new();
        let mut falling: Vec<(f64, u32)> = Vec::new();
        self.rows.visit(|k, _| {
            let i = k as usize;
            if taken[i] {
                return;
            }
            let v = self.value[i];
            if self.up(i) && v > extremes.least {
                rising.push((-v, k));
            }
            if self.down(i) && v < extremes.most {
                falling.push((v, k));
            }
        });
        let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        for list in [&mut rising, &mut falling] {
            if list.len() > room {
                list.select_nth_unstable_by(room, order);
                list.truncate(room);
            }
            list.sort_unstable_by(order);
        }
        let (mut a, mut b) = (rising.into_iter(), falling.into_iter());
        while chosen.len() < size {
            let mut any = false;
            for list in [&mut a, &mut b] {
                for (_, k) in list.by_ref() {
                    if !taken[k as usize] {
                        taken[k as usize] = true;
                        chosen.push(k);
                        any = true;
                        break;
                    }
                }
                if chosen.len() >= size {
                    break;
                }
            }
            if !any {
                break;
            }
        }
        chosen
    }

    fn load_block(&mut self) {
        let size = self.working.len();
        self.block.resize(size);
        let (problem, stride) = (self.problem, Block::<T>::stride(size));
        let places: Vec<usize> = self.working.iter().map(|&k| problem.rows()[k as usize]).collect();
        let streams: Vec<u32> = places.iter().map(|&place| place as u32).collect();
        let panels = rows::panels(&self.tiles, &places);
        let tiles = &self.tiles;
        problem.gram().workers().fill_chunks(&mut self.block.kernel, 64 * stride, |start, chunk| {
            let first = start / stride;
            let count = chunk.len() / stride;
            for (number, panel) in panels.iter().enumerate() {
                let targets: Vec<usize> = (0..count).map(|k| k * stride + number * T::LANES).collect();
                tiles.fill(panel, &streams[first..first + count], &targets, chunk);
            }
        });
        for (k, &variable) in self.working.iter().enumerate() {
            let variable = variable as usize;
            self.block.value[k] = self.value[variable];
            self.block.alpha[k] = self.alpha[variable];
            self.block.upper[k] = problem.upper()[variable];
            self.block.sign[k] = problem.signs()[variable];
            self.block.ridge[k] = problem.ridge()[variable];
        }
    }

    fn run(&mut self, settings: &Settings, control: &mut dyn Control) -> DualSolution {
        let n = self.problem.len();
        let q = (env("MM_Q", 512.0) as usize).min(n);
        let keep = (env("MM_KEEP", 0.5) * q as f64) as usize;
        let inner = env("MM_INNER", 0.1);
        let most = env("MM_MOST", 10.0) as u64 * q as u64;
        let mut outer = 0;
        let mut changed_total = 0;
        let clock = std::time::Instant::now();
        let (mut t_choose, mut t_block, mut t_inner, mut t_add) = (0.0, 0.0, 0.0, 0.0);
        let stop = loop {
            let t0 = clock.elapsed().as_secs_f64();
            self.refresh();
            let extremes = self.extremes();
            let violation = extremes.most - extremes.least;
            let progress = Progress { iteration: self.steps, violation: Some(violation), ..Progress::default() };
            if let ControlFlow::Break(stop) = control.poll(progress) {
                break stop;
            }
            if violation <= settings.tolerance {
                if self.rows.active() == n {
                    break Stop::Converged;
                }
                let t = clock.elapsed().as_secs_f64();
                let before = self.rows.active();
                self.unshrink(extremes);
                eprintln!("unshrink {} -> {} in {:.3}", before, self.rows.active(), clock.elapsed().as_secs_f64() - t);
                if self.rows.active() == before {
                    break Stop::Converged;
                }
                continue;
            }
            self.working = self.choose(q, keep, extremes);
            let t1 = clock.elapsed().as_secs_f64();
            self.load_block();
            let t2 = clock.elapsed().as_secs_f64();
            let target = (inner * violation).max(0.1 * settings.tolerance);
            let outcome = self.block.solve(self.problem.coupling(), target, most);
            let t3 = clock.elapsed().as_secs_f64();
            self.steps += outcome.steps;
            let mut moves = Vec::new();
            for (k, &variable) in self.working.iter().enumerate() {
                let variable = variable as usize;
                let delta = self.block.alpha[k] - self.alpha[variable];
                if delta != 0.0 {
                    self.alpha[variable] = self.block.alpha[k];
                    moves.push((
                        variable,
                        self.problem.rows()[variable] as u32,
                        self.problem.signs()[variable] * delta,
                    ));
                }
            }
            changed_total += moves.len();
            self.rows.add(&moves);
            let t4 = clock.elapsed().as_secs_f64();
            t_choose += t1 - t0;
            t_block += t2 - t1;
            t_inner += t3 - t2;
            t_add += t4 - t3;
            outer += 1;
            if env("MM_VERBOSE", 0.0) > 0.0 {
                eprintln!(
                    "outer {outer} violation {violation:.5} steps {} moves {} computed {} active {}",
                    outcome.steps,
                    moves.len(),
                    self.rows.computed,
                    self.rows.active()
                );
            }
            if outer % env("MM_SHRINK", 5.0) as usize == 0 {
                self.shrink(extremes);
            }
        };
        eprintln!(
            "outer {outer} steps {} moves {changed_total} computed {} choose {t_choose:.3} block {t_block:.3} inner {t_inner:.3} add {t_add:.3}",
            self.steps, self.rows.computed
        );
        if env("MM_EXIT", 0.0) > 0.0 {
            std::process::exit(0);
        }
        let t = clock.elapsed().as_secs_f64();
        let mut gradient = vec![0.0; n];
        if env("MM_GRADIENT", 1.0) > 0.0 {
            gradient = self.problem.gradient(&self.alpha);
        }
        eprintln!(
            "f64 gradient {:.3} violation {:.6} objective {:.6}",
            clock.elapsed().as_secs_f64() - t,
            self.problem.violation(&self.alpha, &gradient),
            self.problem.objective(&self.alpha, &gradient)
        );
        DualSolution { alpha: std::mem::take(&mut self.alpha), gradient, stop, iterations: self.steps }
    }

    fn settled(&self, k: usize, extremes: Extremes) -> bool {
        let v = self.value[k];
        match (self.up(k), self.down(k)) {
            (true, false) => v < extremes.least,
            (false, true) => v > extremes.most,
            _ => false,
        }
    }

    fn shrink(&mut self, extremes: Extremes) {
        let mut leaving = 0;
        let patience = env("MM_PATIENCE", 2.0) as u8;
        for k in 0..self.alpha.len() {
            if !self.is_active[k] {
                continue;
            }
            self.idle[k] = if self.settled(k, extremes) { self.idle[k].saturating_add(1) } else { 0 };
            if self.idle[k] >= patience {
                leaving += 1;
            }
        }
        if (leaving as f64) < env("MM_SHARE", 0.2) * self.rows.active() as f64 {
            return;
        }
        for k in 0..self.alpha.len() {
            if self.idle[k] >= patience {
                self.is_active[k] = false;
            }
        }
        let is_active = &self.is_active;
        self.rows.reactivate(self.problem.rows(), |k| is_active[k as usize], |_| 0.0);
    }

    fn unshrink(&mut self, extremes: Extremes) {
        let problem = self.problem;
        let away: Vec<u32> = (0..self.alpha.len() as u32).filter(|&k| !self.is_active[k as usize]).collect();
        let away_rows: Vec<usize> = away.iter().map(|&k| problem.rows()[k as usize]).collect();
        let moves: Vec<(usize, u32, f64)> = (0..self.alpha.len())
            .filter(|&k| self.alpha[k] != 0.0)
            .map(|k| (k, problem.rows()[k] as u32, problem.signs()[k] * self.alpha[k]))
            .collect();
        let mut sums = KernelRows::new(self.tiles, &away_rows, &vec![0.0; away.len()], problem.gram().workers(), 0);
        sums.add_passing(&moves);
        let mut fresh = vec![0.0; self.alpha.len()];
        sums.visit(|k, sum| fresh[away[k as usize] as usize] = sum);
        let (signs, linear, ridge) = (problem.signs(), problem.linear(), problem.ridge());
        for &k in &away {
            let k = k as usize;
            self.value[k] = -(fresh[k] + signs[k] * (ridge[k] * self.alpha[k] + linear[k]));
            if !self.settled(k, extremes) {
                self.is_active[k] = true;
                self.idle[k] = 0;
            }
        }
        let is_active = &self.is_active;
        self.rows.reactivate(problem.rows(), |k| is_active[k as usize], |k| fresh[k as usize]);
    }
}
