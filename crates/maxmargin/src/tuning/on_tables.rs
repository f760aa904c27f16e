//! Chains on tables: kernel values of all rows are computed once for a kernel, and serve every split, pair of classes and C, and the held-out rows.
//!
//! ```text
//! rows --once--> numbers of the base (distances) --once a kernel--> table --once a chain, split and pair--> all C
//! ```
//!
//! Rows are in the order of the splits that hold them out, so that the held-out rows of a split are columns side by side. Scaled columns are learnt
//! from the training rows of each split, so there the base is computed for each split. A table is in double precision for few rows, else in
//! single precision, as in LIBSVM.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::{ControlFlow, Range};

use super::judge::Truth;
use super::plain::Shared;
use super::scores::{HeldOut, Metric};
use super::search::{Job, Search};
use super::tasks::{self, Done};
use super::tuned::FoldResult;
use crate::control::{Control, Progress, Stop};
use crate::data::{Dataset, Matrix, Scaling, ScalingKind};
use crate::error::Error;
use crate::kernel::{Base, Centre, KernelFunction, KernelParams, Points};
use crate::problem::{Bias, Loss, Norm, Penalty};
use crate::provenance::SolverKind;
use crate::recipe::Multiclass;
use crate::simd::Real;
use crate::solver::{Chain, ChainProblem};
use crate::training::TrainingParams;
use crate::workers::Workers;

/// The most rows whose table is in double precision: 13 MB.
const DOUBLE_ROWS: usize = 1280;

/// Pairs of classes that are a task: enough to make a task worth waking a thread.
const PAIRS_A_TASK: usize = 16;

/// Steps of a machine at most where none are named, for each C: at 1,000 rows about two seconds.
const MOST_STEPS: u64 = 5_000_000;

/// The order of the rows in tables, and the tables that are kept from round to round.
pub(super) struct Tables {
    /// The row of each place in a table, and the place of each row.
    order: Vec<usize>,
    single: Kept<f32>,
    double: Kept<f64>,
}

/// The numbers of a base, and the split whose scaling they have.
type BaseNumbers<T> = ((Option<usize>, Base), Vec<T>);

/// Tables by the split whose scaling they have (`None`: all) and their kernel.
#[derive(Default)]
struct Kept<T> {
    base: Option<BaseNumbers<T>>,
    tables: HashMap<(Option<usize>, String), Vec<T>>,
}

impl Tables {
    pub(super) fn new(data: &Dataset) -> Self {
        Tables { order: (0..data.rows()).collect(), single: Kept::default(), double: Kept::default() }
    }
}

/// What a precision keeps.
trait Precise: Real {
    fn kept(tables: &mut Tables) -> (&[usize], &mut Kept<Self>);
}

impl Precise for f32 {
    fn kept(tables: &mut Tables) -> (&[usize], &mut Kept<f32>) {
        (&tables.order, &mut tables.single)
    }
}

impl Precise for f64 {
    fn kept(tables: &mut Tables) -> (&[usize], &mut Kept<f64>) {
        (&tables.order, &mut tables.double)
    }
}

/// The rows of a split, by their places in a table.
struct SplitPlan {
    /// For each class its training rows, ascending.
    of_class: Vec<Vec<usize>>,
    /// The factor on C of each place.
    weights: Vec<f64>,
    /// The held-out rows in the order of the split.
    test: Vec<usize>,
    /// The classes that have training rows, in pairs.
    pairs: Vec<(usize, usize)>,
}

/// A kernel, and the jobs that use its table.
struct Group {
    scaled_by: Option<usize>,
    kernel: KernelFunction,
    name: String,
    jobs: Vec<usize>,
}

/// Some pairs of classes of a job.
struct Task {
    group: usize,
    job: usize,
    pairs: Range<usize>,
}

/// What some pairs of classes say of one cell.
struct Part {
    /// Votes for each class, held-out row after row; of one pair its decision values instead.
    votes: Vec<u16>,
    values: Vec<f64>,
    /// Decision values of the training rows in the order of their places, of one pair.
    training: Vec<f64>,
    /// The places of support vectors, as bits.
    support: Vec<u64>,
    bounded: usize,
    square: f64,
    gap: f64,
    steps: u64,
    stop: Stop,
}

/// Bytes of the numbers of the base and of one table.
fn bytes_of_tables(rows: usize) -> u64 {
    let number = if rows <= DOUBLE_ROWS { 8 } else { 4 };
    2u64.saturating_mul(number).saturating_mul((rows as u64).saturating_pow(2))
}

impl Search {
    /// Whether a chain can be solved on a table within the memory.
    pub(super) fn has_table(&self, data: &Dataset, chain: usize) -> bool {
        let settings = &self.trainings[self.chains[chain][0]].params().settings;
        self.is_for_tables(data, chain) && bytes_of_tables(data.rows()) <= settings.memory
    }

    /// Whether chains that are for tables are solved by ordinary fits, because two tables do not fit into the memory.
    pub fn lacks_memory(&self, data: &Dataset) -> bool {
        let lacks = |chain: usize| self.is_for_tables(data, chain) && !self.has_table(data, chain);
        self.params.tables && (0..self.chains.len()).any(lacks)
    }

    /// Whether a chain is of the kind that is solved on a table.
    fn is_for_tables(&self, data: &Dataset, chain: usize) -> bool {
        let training = &self.trainings[self.chains[chain][0]];
        let TrainingParams { task, kernel, penalty, norm, bias, solver, multiclass, settings, .. } = training.params();
        let is_kernel = matches!(
            kernel,
            KernelParams::Rbf { .. } | KernelParams::Polynomial { .. } | KernelParams::Laplacian { .. }
        );
        let count = data.answers().labels().map_or(0, |labels| labels.classes().len());
        let is_one_pair = count == 2 || training.params().positive.is_some();
        let by_pairs = is_one_pair || matches!(multiclass, None | Some(Multiclass::OneVsOne));
        let has_score = match self.params.metric {
            Metric::Accuracy | Metric::BalancedAccuracy | Metric::F1 => true,
            Metric::Auc => is_one_pair,
            _ => false,
        };
        task.is_classification()
            && training.params().landmarks.is_none()
            && self.of_splits.is_empty()
            && is_kernel
            && training.loss() == Loss::Hinge
            && matches!(penalty, Penalty::C(_))
            && *norm == Norm::L2
            && *bias != Bias::Folded
            && matches!(solver, None | Some(SolverKind::Smo | SolverKind::BlockSmo))
            && by_pairs
            && has_score
            && settings.gap.is_none()
    }

    /// Does jobs on tables, and hands each result to `take`. The reason of a break, if there was one.
    ///
    /// # Errors
    /// When the columns cannot be scaled, or the kernel does not go with the data.
    pub(super) fn fit_on_tables(
        &self,
        shared: &Shared<'_>,
        tables: &mut Tables,
        jobs: &[Job],
        workers: &Workers,
        control: &mut dyn Control,
        take: &mut dyn FnMut(&Job, Vec<FoldResult>),
    ) -> Result<Option<Stop>, Error> {
        tables.order = self.order(shared);
        if shared.data.rows() <= DOUBLE_ROWS {
            self.fit_in::<f64>(shared, tables, jobs, workers, control, take)
        } else {
            self.fit_in::<f32>(shared, tables, jobs, workers, control, take)
        }
    }

    /// Rows by the first split that holds them out, then by their class.
    fn order(&self, shared: &Shared<'_>) -> Vec<usize> {
        let rows = shared.data.rows();
        let mut split = vec![usize::MAX; rows];
        for (number, own) in self.params.splits.list().iter().enumerate().rev() {
            own.test.iter().for_each(|&row| split[row] = number);
        }
        let class = |row: usize| if let Truth::Classes(codes, _) = &shared.truth { codes[row] } else { None };
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by_key(|&row| (split[row], class(row), row));
        order
    }

    fn fit_in<T: Precise>(
        &self,
        shared: &Shared<'_>,
        tables: &mut Tables,
        jobs: &[Job],
        workers: &Workers,
        control: &mut dyn Control,
        take: &mut dyn FnMut(&Job, Vec<FoldResult>),
    ) -> Result<Option<Stop>, Error> {
        let (order, kept) = T::kept(tables);
        let mut plans: HashMap<usize, SplitPlan> = HashMap::new();
        for job in jobs {
            if let Entry::Vacant(place) = plans.entry(job.split) {
                place.insert(self.plan(shared, job.split, order)?);
            }
        }
        let groups = self.groups(shared, jobs)?;
        let size = (shared.data.rows() as u64).pow(2) * size_of::<T>() as u64;
        let memory = self.trainings[0].params().settings.memory;
        // One for the base; the budget is at least that of the base and a table.
        let most = ((memory / size.max(1)).saturating_sub(1) as usize).max(1);
        let mut shared_done = shared.done;
        for wave in groups.chunks(most) {
            let wanted: Vec<_> = wave.iter().map(|group| (group.scaled_by, group.name.clone())).collect();
            if kept.tables.keys().filter(|key| !wanted.contains(key)).count() + wanted.len() > most {
                kept.tables.retain(|key, _| wanted.contains(key));
            }
            let at = Progress {
                machine: (shared_done.jobs, shared_done.of.max(shared_done.jobs + 1)),
                ..Progress::default()
            };
            for group in wave {
                if let ControlFlow::Break(stop) =
                    self.fill(shared, group, order, kept, workers, &mut || control.poll(at))?
                {
                    return Ok(Some(stop));
                }
            }
            let mut waiting: Vec<Task> = Vec::new();
            for (group, own) in wave.iter().enumerate() {
                for &job in &own.jobs {
                    let pairs = plans[&jobs[job].split].pairs.len();
                    let pieces = (0..pairs).step_by(PAIRS_A_TASK);
                    waiting.extend(pieces.map(|first| Task {
                        group,
                        job,
                        pairs: first..(first + PAIRS_A_TASK).min(pairs),
                    }));
                }
            }
            // Chains of a job are the longer the more C they have; the longest begin first, so that none is left for the end.
            waiting.sort_by_key(|task| std::cmp::Reverse(jobs[task.job].cells.len()));
            let mut parts: HashMap<usize, Vec<(usize, Vec<Part>)>> = HashMap::new();
            let own_tables: Vec<&Vec<T>> = wanted.iter().filter_map(|key| kept.tables.get(key)).collect();
            let of_wave: usize = wave.iter().map(|group| group.jobs.len()).sum();
            let done = Done { tasks_a_job: waiting.len().div_ceil(of_wave.max(1)), ..shared_done };
            let work = |number: usize, control: &mut dyn Control| {
                let task = &waiting[number];
                let job = &jobs[task.job];
                self.solve(job, &plans[&job.split], task.pairs.clone(), own_tables[task.group], order.len(), control)
            };
            let broke = tasks::run(workers, waiting.len(), done, work, control, |number, found| {
                let Some(found) = found else { return };
                let Task { job, pairs, .. } = &waiting[number];
                let plan = &plans[&jobs[*job].split];
                let own = parts.entry(*job).or_default();
                own.push((pairs.start, found));
                if own.len() == plan.pairs.len().div_ceil(PAIRS_A_TASK) {
                    let mut own = parts.remove(job).unwrap_or_default();
                    own.sort_by_key(|(first, _)| *first);
                    take(&jobs[*job], self.join(shared, &jobs[*job], plan, own));
                }
            });
            if broke.is_some() {
                return Ok(broke);
            }
            shared_done.jobs += of_wave;
        }
        Ok(None)
    }

    /// The rows of a split.
    fn plan(&self, shared: &Shared<'_>, split: usize, order: &[usize]) -> Result<SplitPlan, Error> {
        let (data, split) = (shared.data, &self.params.splits.list()[split]);
        let Truth::Classes(codes, classes) = &shared.truth else { return Err(Error::parameter("truth", 0, "classes")) };
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &row)| place[row] = k);
        let part = data.select_rows(&split.train);
        let params = &self.params.training;
        let labels = match &params.positive {
            Some(positive) => part.labels()?.one_against_rest(positive).unwrap_or(part.labels()?.clone()),
            None => part.labels()?.clone(),
        };
        // Of the classes that are there in these rows.
        let factors = params.class_weights.of_classes(&labels, part.weights())?;
        let factor = |class: u32| -> f64 {
            let of = |factors: &Vec<f64>| {
                let own = labels.classes().iter().position(|label| shared.place(label) == class);
                own.map_or(1.0, |own| factors[own])
            };
            factors.as_ref().map_or(1.0, of)
        };
        let (mut of_class, mut weights) = (vec![Vec::new(); *classes], vec![0.0; order.len()]);
        for &row in &split.train {
            let Some(class) = codes[row] else { continue };
            let weight = data.weights().map_or(1.0, |weights| weights[row]) * factor(class);
            if weight > 0.0 {
                weights[place[row]] = weight;
                of_class[class as usize].push(place[row]);
            }
        }
        of_class.iter_mut().for_each(|rows| rows.sort_unstable());
        let there: Vec<usize> = (0..*classes).filter(|&class| !of_class[class].is_empty()).collect();
        let with = |k: usize| there[k + 1..].iter().map(move |&later| (k, later));
        let pairs = (0..there.len()).flat_map(with).map(|(k, later)| (there[k], later)).collect();
        Ok(SplitPlan { of_class, weights, test: split.test.iter().map(|&row| place[row]).collect(), pairs })
    }

    /// The jobs by the table that they use, in the order in which tables are first used.
    fn groups(&self, shared: &Shared<'_>, jobs: &[Job]) -> Result<Vec<Group>, Error> {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: HashMap<(Option<usize>, String), usize> = HashMap::new();
        let is_scaled = self.params.training.scaling != ScalingKind::None;
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        if is_scaled {
            // The base of one split at a time.
            order.sort_by_key(|&job| jobs[job].split);
        }
        for job in order {
            let Job { split, cells, .. } = &jobs[job];
            let scaled_by = is_scaled.then_some(*split);
            let params = self.trainings[cells[0]].params();
            let mut kernel = params.kernel.clone();
            let is_number = kernel
                .gamma_mut()
                .is_none_or(|gamma| matches!(gamma, crate::kernel::Gamma::Value(_) | crate::kernel::Gamma::Sigma(_)));
            let kernel = if is_number {
                kernel.check(shared.data.matrix())?
            } else {
                // γ by a rule is that of the training rows.
                let train = &self.params.splits.list()[*split].train;
                let matrix = self.matrix(shared.data, scaled_by, &Workers::none())?.select_rows(train);
                let part = shared.data.select_rows(train);
                kernel.check_weighted(&matrix, part.weights())?
            };
            let name = format!("{kernel:?}");
            let place = *known.entry((scaled_by, name.clone())).or_insert_with(|| {
                groups.push(Group { scaled_by, kernel, name, jobs: Vec::new() });
                groups.len() - 1
            });
            groups[place].jobs.push(job);
        }
        Ok(groups)
    }

    /// The columns, scaled as the training rows of a split say.
    fn matrix(&self, data: &Dataset, scaled_by: Option<usize>, workers: &Workers) -> Result<Matrix, Error> {
        let Some(split) = scaled_by else { return Ok(data.matrix().clone()) };
        let train = data.matrix().select_rows(&self.params.splits.list()[split].train);
        Scaling::learn_by(self.params.training.scaling, &train, workers).apply_by(data.matrix(), workers)
    }

    /// Makes the table of a group, unless it is there.
    fn fill<T: Precise>(
        &self,
        shared: &Shared<'_>,
        group: &Group,
        order: &[usize],
        kept: &mut Kept<T>,
        workers: &Workers,
        poll: &mut dyn FnMut() -> ControlFlow<Stop>,
    ) -> Result<ControlFlow<Stop>, Error> {
        let key = (group.scaled_by, group.name.clone());
        if kept.tables.contains_key(&key) {
            return Ok(ControlFlow::Continue(()));
        }
        if let ControlFlow::Break(stop) = poll() {
            return Ok(ControlFlow::Break(stop));
        }
        let Some(base) = Base::of(&group.kernel) else {
            return Err(Error::parameter("kernel", &group.name, "a function of distances"));
        };
        let wanted = (group.scaled_by, base);
        if kept.base.as_ref().is_none_or(|(own, _)| *own != wanted) {
            kept.base = None;
            let matrix = self.matrix(shared.data, group.scaled_by, workers)?;
            let centre = Centre::of(&group.kernel, &matrix);
            let points = Points::around(workers, matrix, false, centre);
            match base.numbers(&points, order, workers, poll) {
                ControlFlow::Continue(numbers) => kept.base = Some((wanted, numbers)),
                ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
            }
        }
        let Some((_, numbers)) = &kept.base else { return Ok(ControlFlow::Continue(())) };
        let mut table = vec![T::default(); numbers.len()];
        workers.fill_chunks(&mut table, order.len(), |start, out| {
            group.kernel.of_base(&numbers[start..start + out.len()], out);
        });
        kept.tables.insert(key, table);
        Ok(ControlFlow::Continue(()))
    }

    /// Some pairs of classes of a job, for all its C; `None` when the control breaks.
    fn solve<T: Real>(
        &self,
        job: &Job,
        plan: &SplitPlan,
        pairs: Range<usize>,
        table: &[T],
        size: usize,
        control: &mut dyn Control,
    ) -> Option<Vec<Part>> {
        let (classes, held, is_one) = (plan.of_class.len(), plan.test.len(), plan.pairs.len() == 1);
        let params = self.trainings[job.cells[0]].params();
        let empty = || Part {
            votes: vec![0; if is_one { 0 } else { held * classes }],
            values: Vec::new(),
            training: Vec::new(),
            support: vec![0; size.div_ceil(64)],
            bounded: 0,
            square: 0.0,
            gap: 0.0,
            steps: 0,
            stop: Stop::Converged,
        };
        let mut parts: Vec<Part> = job.cells.iter().map(|_| empty()).collect();
        let tolerance = params.settings.tolerance();
        let most = params.settings.max_iterations.unwrap_or(MOST_STEPS);
        for &(negative, positive) in &plan.pairs[pairs] {
            let mut rows = [plan.of_class[negative].as_slice(), &plan.of_class[positive]].concat();
            rows.sort_unstable();
            let is_positive = |row: &usize| plan.of_class[positive].binary_search(row).is_ok();
            let signs: Vec<f64> = rows.iter().map(|row| if is_positive(row) { 1.0 } else { -1.0 }).collect();
            let weights: Vec<f64> = rows.iter().map(|&row| plan.weights[row]).collect();
            let has_bias = params.bias == Bias::Explicit;
            let mut chain =
                Chain::new(ChainProblem { table, size, rows: &rows, signs: &signs, weights: &weights, has_bias });
            let mut values: Vec<f64> = Vec::new();
            for (&cell, part) in job.cells.iter().zip(&mut parts) {
                let Penalty::C(cost) = self.trainings[cell].params().penalty else { return None };
                let mut poll = || match control.poll(Progress::default()) {
                    ControlFlow::Continue(()) => ControlFlow::Continue(()),
                    ControlFlow::Break(_) => ControlFlow::Break(()),
                };
                let found = chain.solve(cost, tolerance, most, &mut poll)?;
                if !found.is_copy {
                    values = chain.sums_at(&plan.test);
                    values.iter_mut().for_each(|value| *value += found.bias);
                }
                if is_one {
                    part.values.clone_from(&values);
                    part.training = chain.sums().map(|sum| sum + found.bias).collect();
                } else {
                    // A decision value of exactly 0 is negative.
                    for (votes, &value) in part.votes.chunks_mut(classes).zip(&values) {
                        votes[if value > 0.0 { positive } else { negative }] += 1;
                    }
                }
                let support = rows.iter().zip(chain.coefficients()).filter(|(_, c)| **c != 0.0);
                support.for_each(|(&row, _)| part.support[row / 64] |= 1 << (row % 64));
                part.bounded += found.bounded;
                part.square = part.square.max(found.square);
                part.gap = part.gap.max(found.gap);
                part.steps += found.steps;
                part.stop = if part.stop == Stop::Converged { found.stop } else { part.stop };
            }
        }
        Some(parts)
    }

    /// What the parts of a job say of each of its cells.
    fn join(
        &self,
        shared: &Shared<'_>,
        job: &Job,
        plan: &SplitPlan,
        parts: Vec<(usize, Vec<Part>)>,
    ) -> Vec<FoldResult> {
        let split = &self.params.splits.list()[job.split];
        let Truth::Classes(codes, classes) = &shared.truth else { return Vec::new() };
        let truth: Vec<Option<u32>> = split.test.iter().map(|&row| codes[row]).collect();
        let mut places: Vec<(usize, Option<u32>)> = Vec::new();
        if plan.pairs.len() == 1 {
            let of_class = plan.of_class.iter().enumerate();
            places.extend(of_class.flat_map(|(class, rows)| rows.iter().map(move |&row| (row, Some(class as u32)))));
            places.sort_unstable();
        }
        let own: Vec<Option<u32>> = places.into_iter().map(|(_, class)| class).collect();
        let result = |cell: usize| {
            let mut votes = vec![0u32; if plan.pairs.len() == 1 { 0 } else { split.test.len() * classes }];
            let mut support = vec![0u64; shared.data.rows().div_ceil(64)];
            let mut result = FoldResult {
                score: None,
                training: None,
                support: 0,
                bounded: 0,
                margin: None,
                gap: Some(0.0),
                steps: 0,
                stop: Stop::Converged,
                predicted: Vec::new(),
                values: Vec::new(),
            };
            let mut square = 0.0f64;
            for part in parts.iter().map(|(_, parts)| &parts[cell]) {
                votes.iter_mut().zip(&part.votes).for_each(|(all, own)| *all += u32::from(*own));
                support.iter_mut().zip(&part.support).for_each(|(all, own)| *all |= own);
                result.bounded += part.bounded;
                result.gap = result.gap.map(|gap| gap.max(part.gap));
                result.steps += part.steps;
                result.stop = if result.stop == Stop::Converged { part.stop } else { result.stop };
                square = square.max(part.square);
                result.values.extend(&part.values);
            }
            result.support = support.iter().map(|word| word.count_ones() as usize).sum();
            result.margin = (square > 0.0).then(|| 1.0 / square.sqrt());
            let mut machines = Vec::new();
            let predicted: Vec<u32> = if let [(negative, positive)] = plan.pairs[..] {
                machines.push((positive, Some(negative)));
                let class = |value: f64| if value > 0.0 { positive } else { negative } as u32;
                let training: Vec<f64> = parts.iter().flat_map(|(_, parts)| parts[cell].training.clone()).collect();
                result.training = self.params.metric.score(&HeldOut::Classes {
                    truth: &own,
                    predicted: &training.iter().map(|&value| class(value)).collect::<Vec<_>>(),
                    classes: *classes,
                    values: &training,
                    machines: &machines,
                    probabilities: &[],
                });
                result.values.iter().map(|&value| class(value)).collect()
            } else {
                let winner = |votes: &[u32]| {
                    (1..*classes).fold(0, |best, class| if votes[class] > votes[best] { class } else { best }) as u32
                };
                votes.chunks(*classes).map(winner).collect()
            };
            result.score = self.params.metric.score(&HeldOut::Classes {
                truth: &truth,
                predicted: &predicted,
                classes: *classes,
                values: &result.values,
                machines: &machines,
                probabilities: &[],
            });
            result.predicted = predicted.into_iter().map(f64::from).collect();
            result
        };
        (0..job.cells.len()).map(result).collect()
    }
}
