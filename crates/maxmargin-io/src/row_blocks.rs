//! Data that need not fit in memory: its rows, block after block.

use std::collections::VecDeque;

use maxmargin::Workers;
use maxmargin::data::{Dataset, TableRecipe};
use maxmargin::error::quoted;

use crate::block::Block;
use crate::error::Error;
use crate::gather::Summary;
use crate::parser::{Kind, Parser};
use crate::read::{Format, Opened, ReadControl, settings_error};
use crate::rows::Rows;

/// Some rows of a file that follow one another.
#[derive(Clone, Debug)]
pub struct RowBlock {
    /// How many rows come before them.
    pub first_row: usize,
    /// The rows. Their classes are those that occur among them, and where the format leaves out zeros (LIBSVM text), their
    /// columns are those of the rows up to here: both may become more from block to block.
    pub data: Dataset,
}

/// The rows of a file, compressed file or pipe, block after block, in bounded memory: made by
/// [`Reader::blocks_of_path`](crate::Reader::blocks_of_path) and [`Reader::blocks_of_source`](crate::Reader::blocks_of_source).
///
/// As many blocks as there are threads are read side by side, and handed out in order. Joined, they are the rows that
/// reading the file as a whole gives; an error is the same as well, and comes after all rows before it. Memory is that
/// of a few blocks, or of the longest line where that is longer. A block has at least one row.
///
/// # Examples
/// ```
/// use maxmargin_io::{ReadOptions, Reader};
///
/// let options = ReadOptions::default();
/// let text = &b"+1 1:0.5\n-1 2:1\n+1 7:1\n"[..];
/// let (mut rows, mut columns) = (0, 0);
/// for block in Reader::new(&options).in_blocks_of(10).blocks_of_source(text, "example.svm")? {
///     let block = block?;
///     assert_eq!(block.first_row, rows);
///     rows += block.data.rows();
///     columns = block.data.columns();
/// }
/// assert_eq!((rows, columns), (3, 7));
/// # Ok::<(), maxmargin_io::Error>(())
/// ```
pub struct RowBlocks<'a> {
    opened: Opened<'a>,
    parser: Parser,
    workers: Workers,
    control: &'a dyn ReadControl,
    summary: Summary,
    /// The highest of the columns that are asked for.
    highest: usize,
    parts: Vec<(Block, Rows)>,
    ready: VecDeque<RowBlock>,
    /// What comes after the blocks that are ready: nothing, or an error.
    end: Option<Option<Error>>,
}

impl<'a> RowBlocks<'a> {
    pub(crate) fn new(opened: Opened<'a>, parser: Parser, workers: Workers, control: &'a dyn ReadControl) -> Self {
        let highest = parser.chosen().into_iter().flatten().filter_map(|name| name.parse().ok()).max().unwrap_or(0);
        RowBlocks {
            opened,
            parser,
            workers,
            control,
            summary: Summary::default(),
            highest,
            parts: Vec::new(),
            ready: VecDeque::new(),
            end: None,
        }
    }

    /// How raw columns become numbers; `None` where the text is no table.
    pub(crate) fn recipe(&self) -> Option<TableRecipe> {
        match &self.parser.kind {
            Kind::Table(table) => Some(table.columns.recipe()),
            Kind::Libsvm(_) => None,
        }
    }

    /// The format of the text.
    pub fn format(&self) -> Format {
        self.parser.format()
    }

    /// Reads a block for each thread.
    fn read_more(&mut self) {
        let mut count = 0;
        let mut end = None;
        while count < self.workers.threads() && end.is_none() {
            if self.parts.len() == count {
                self.parts.push(Default::default());
            }
            let next = self
                .opened
                .go_on(self.control, self.parser.origin())
                .and_then(|()| self.opened.cutter.next(&mut self.parts[count].0));
            match next {
                Ok(true) => count += 1,
                Ok(false) => end = Some(None),
                Err(error) => end = Some(Some(error)),
            }
        }
        let parser = &self.parser;
        self.workers.map_parts(&mut self.parts[..count], |(block, rows)| parser.read(block, rows));
        for (_, rows) in &mut self.parts[..count] {
            let first_row = self.summary.rows();
            let (data, fault) = self.summary.add_alone(parser, rows, self.highest);
            self.ready.extend(data.map(|data| RowBlock { first_row, data }));
            if let Some(fault) = fault {
                // Columns can be missing because the text is of another format, which is the better answer.
                let is_other = matches!(fault, Error::Data { .. }) && self.summary.rows() > 0;
                let other = if is_other { self.summary.check(parser).err() } else { None };
                self.end = Some(Some(other.unwrap_or(fault)));
                return;
            }
        }
        // What can only be said of the whole.
        if let Some(None) = end {
            end = Some(self.summary.check(parser).and_then(|()| self.check_chosen()).err());
        }
        self.end = end;
    }

    /// Checks that all columns that are asked for have come.
    fn check_chosen(&self) -> Result<(), Error> {
        let columns = self.summary.columns();
        let is_missing = |name: &&String| name.parse().is_ok_and(|number: usize| number > columns);
        match self.parser.chosen().into_iter().flatten().find(is_missing) {
            Some(name) => Err(settings_error(
                self.parser.origin(),
                format!("there is no column {}", quoted(name)),
                format!("the columns are numbered 1 to {columns}"),
            )),
            None => Ok(()),
        }
    }
}

impl Iterator for RowBlocks<'_> {
    type Item = Result<RowBlock, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(block) = self.ready.pop_front() {
                return Some(Ok(block));
            }
            match &mut self.end {
                None => self.read_more(),
                // An error is told once.
                Some(end) => return end.take().map(Err),
            }
        }
    }
}
