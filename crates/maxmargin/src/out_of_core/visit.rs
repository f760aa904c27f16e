//! Reads blocks group by group: the next group is read while this one is worked on.

use std::ops::ControlFlow;

use super::source::{BlockError, BlockSource};
use crate::control::Stop;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::data::{Dataset, Label, Labels, Matrix};
use crate::error::{Error, quoted};
use crate::workers::Workers;

/// The classes of a model, and the class of each label of the source.
#[derive(Clone, Debug)]
pub(super) struct Coding {
    /// The labels of the source.
    labels: Vec<Label>,
    /// For each label its class.
    codes: Vec<u32>,
    /// The model's classes.
    pub(super) classes: Vec<Label>,
}

impl Coding {
    /// All labels, or one of them against the rest.
    pub(super) fn new(labels: &[Label], positive: Option<&Label>) -> Result<Self, Error> {
        let all = Labels::new(labels.iter().cloned());
        let coded = match positive {
            None => all.clone(),
            Some(positive) => all.one_against_rest(positive).ok_or_else(|| Error::Data {
                what: format!("no row has the label {}", quoted(positive.text())),
                help: format!(
                    "the labels are {}",
                    crate::error::listed(labels.iter().map(|label| quoted(label.text())), 8)
                ),
            })?,
        };
        Ok(Coding { labels: labels.to_vec(), codes: coded.codes().to_vec(), classes: coded.classes().to_vec() })
    }

    /// The class of each row.
    fn of(&self, labels: &Labels) -> Result<Vec<u32>, Error> {
        let place = |label: &Label| {
            let place = self.labels.iter().position(|known| known == label);
            place.map(|place| self.codes[place]).ok_or_else(|| Error::Data {
                what: format!("a block has the label {}, which is none of its source's", quoted(label.text())),
                help: "make the blocks anew from the data".into(),
            })
        };
        let places = labels.classes().iter().map(place).collect::<Result<Vec<u32>, Error>>()?;
        Ok(labels.codes().iter().map(|&code| places[code as usize]).collect())
    }
}

/// A block with what is computed once for all machines.
pub(super) struct Block {
    pub(super) number: usize,
    /// How many rows come before it.
    pub(super) first: usize,
    pub(super) data: Dataset,
    /// The class of each row.
    pub(super) codes: Vec<u32>,
    /// ‖x‖² of each row, the constant of a folded bias not included.
    pub(super) squares: Vec<f64>,
}

impl Block {
    pub(super) fn matrix(&self) -> &Matrix {
        self.data.matrix()
    }

    /// The weight of a row.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.data.weights().map_or(1.0, |weights| weights[row])
    }
}

/// A source, and how its blocks are read.
pub(super) struct Visits<'a, S> {
    pub(super) source: &'a S,
    pub(super) coding: &'a Coding,
    /// The first row of each block, and the number of rows last.
    pub(super) starts: &'a [usize],
    /// How many blocks are in a group.
    pub(super) group: usize,
    pub(super) workers: &'a Workers,
}

impl<S: BlockSource> Visits<'_, S> {
    /// Calls `work` with the blocks in this order, until it breaks.
    ///
    /// # Errors
    /// When a block cannot be read, or is not what the source says of it.
    pub(super) fn each(
        &self,
        order: &[usize],
        mut work: impl FnMut(&Block) -> ControlFlow<Stop>,
    ) -> Result<ControlFlow<Stop>, BlockError<S::Error>> {
        self.each_group(order, |blocks| blocks.iter().try_for_each(&mut work))
    }

    /// Calls `work` with the blocks in this order, a group at a time, until it breaks. The next group is read meanwhile.
    ///
    /// # Errors
    /// As [`Visits::each`].
    pub(super) fn each_group(
        &self,
        order: &[usize],
        mut work: impl FnMut(&[Block]) -> ControlFlow<Stop>,
    ) -> Result<ControlFlow<Stop>, BlockError<S::Error>> {
        let groups: Vec<&[usize]> = order.chunks(self.group).collect();
        let mut ready = groups.first().map(|first| self.prepared(first));
        for place in 0..groups.len() {
            let blocks = match ready.take() {
                Some(blocks) => blocks?,
                None => self.prepared(groups[place])?,
            };
            let ahead = groups.get(place + 1).copied();
            let flow = self.workers.in_scope(|scope| {
                if let Some(ahead) = ahead {
                    let ready = &mut ready;
                    scope.spawn(move |_| *ready = Some(self.prepared(ahead)));
                }
                work(&blocks)
            });
            let flow = match flow {
                Some(flow) => flow,
                None => work(&blocks),
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads some blocks.
    fn prepared(&self, numbers: &[usize]) -> Result<Vec<Block>, BlockError<S::Error>> {
        numbers.iter().map(|&number| self.block(number)).collect()
    }

    /// Reads a block.
    fn block(&self, number: usize) -> Result<Block, BlockError<S::Error>> {
        let data = self.source.read(number).map_err(BlockError::Read)?;
        let (rows, columns) = (self.starts[number + 1] - self.starts[number], self.source.columns());
        if data.rows() != rows || data.columns() != columns || data.weights().is_some() != self.source.has_weights() {
            return Err(BlockError::Training(Error::Shape {
                operation: "training over blocks",
                left: format!("block {} of {} rows x {} columns", number + 1, data.rows(), data.columns()),
                right: format!("{rows} rows x {columns} columns"),
            }));
        }
        let codes = self.coding.of(data.labels()?)?;
        let mut squares = vec![0.0; rows];
        on_stored_rows!(data.matrix(), stored => for (row, square) in squares.iter_mut().enumerate() {
            stored.visit(row, |_, value| *square += value * value);
        });
        Ok(Block { number, first: self.starts[number], data, codes, squares })
    }
}

/// Rows of a group, and the most blocks of one.
const ROWS_A_GROUP: usize = 8192;
const MOST_BLOCKS: usize = 64;

/// How many blocks make a group, where there is memory for them: enough for their mixed rows to be a fair sample.
pub(super) fn usual_group(starts: &[usize]) -> usize {
    let (rows, blocks) = (starts.last().copied().unwrap_or(0), starts.len() - 1);
    (ROWS_A_GROUP * blocks / rows.max(1)).clamp(1, MOST_BLOCKS)
}
