//! Sources of blocks of rows.

use thiserror::Error as ThisError;

use crate::data::{Dataset, Label, Labels};
use crate::error::Error;

/// Rows in blocks. Each block can be read by itself, any number of times, from any thread.
///
/// A block must have the same rows each time, and all blocks have the columns of the source.
pub trait BlockSource: Sync {
    /// Why a block could not be read.
    type Error: Send;

    /// How many blocks there are.
    fn blocks(&self) -> usize;

    /// How many rows a block has, without reading it.
    fn block_rows(&self, block: usize) -> usize;

    /// How many columns each block has.
    fn columns(&self) -> usize;

    /// The labels of all rows, sorted.
    fn classes(&self) -> &[Label];

    /// The columns' names, where there are any.
    fn names(&self) -> Option<&[String]>;

    /// Whether the rows have weights.
    fn has_weights(&self) -> bool;

    /// Bytes of memory that reading needs while one block is worked on and the next one is read.
    fn working_bytes(&self) -> u64;

    /// Reads a block.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    fn read(&self, block: usize) -> Result<Dataset, Self::Error>;
}

/// Why a training over blocks could not be done.
#[derive(Clone, Debug, PartialEq, ThisError)]
pub enum BlockError<E> {
    /// A block could not be read.
    #[error("{0}")]
    Read(E),
    /// No problem can be made of the data, the training is of another kind, or memory is short.
    #[error("{0}")]
    Training(Error),
}

impl<E> From<Error> for BlockError<E> {
    fn from(error: Error) -> Self {
        BlockError::Training(error)
    }
}

/// Data sets in memory as blocks, for callers who cut their data themselves, and for tests.
#[derive(Clone, Debug)]
pub struct BlocksInMemory {
    blocks: Vec<Dataset>,
    classes: Vec<Label>,
}

impl BlocksInMemory {
    /// Takes the data sets as they are.
    ///
    /// # Errors
    /// When one has no labels, or they differ in their columns, their names, or in having weights.
    pub fn new(blocks: Vec<Dataset>) -> Result<Self, Error> {
        let kind = |data: &Dataset| (data.columns(), data.names().map(<[String]>::to_vec), data.weights().is_some());
        if let Some(number) = (1..blocks.len()).find(|&k| kind(&blocks[k]) != kind(&blocks[0])) {
            return Err(Error::Data {
                what: format!("block {} has other columns or weights than block 1", number + 1),
                help: "give all blocks the same columns, and weights to all or none".into(),
            });
        }
        let classes = blocks.iter().map(|data| Ok(data.labels()?.classes())).collect::<Result<Vec<_>, Error>>()?;
        let labels = Labels::new(classes.into_iter().flatten().cloned());
        Ok(BlocksInMemory { blocks, classes: labels.classes().to_vec() })
    }

    /// Cuts a data set into blocks of `rows` rows.
    ///
    /// # Errors
    /// When there are no rows to a block.
    pub fn cut(data: &Dataset, rows: usize) -> Result<Self, Error> {
        if rows == 0 {
            return Err(Error::parameter("rows of a block", rows, "1 or more"));
        }
        let starts = (0..data.rows()).step_by(rows);
        let blocks = starts.map(|start| {
            let some: Vec<usize> = (start..data.rows().min(start + rows)).collect();
            data.select_rows(&some)
        });
        BlocksInMemory::new(blocks.collect())
    }
}

impl BlockSource for BlocksInMemory {
    type Error = std::convert::Infallible;

    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn block_rows(&self, block: usize) -> usize {
        self.blocks[block].rows()
    }

    fn columns(&self) -> usize {
        self.blocks.first().map_or(0, Dataset::columns)
    }

    fn classes(&self) -> &[Label] {
        &self.classes
    }

    fn names(&self) -> Option<&[String]> {
        self.blocks.first().and_then(Dataset::names)
    }

    fn has_weights(&self) -> bool {
        self.blocks.first().is_some_and(|data| data.weights().is_some())
    }

    /// 0, because reading shares the blocks in memory.
    fn working_bytes(&self) -> u64 {
        0
    }

    fn read(&self, block: usize) -> Result<Dataset, Self::Error> {
        Ok(self.blocks[block].clone())
    }
}
