//! Rows a block at a time, read by a thread of their own, so that whoever works on them can be interrupted meanwhile.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use maxmargin::data::{Dataset, Label, TableRecipe, embedded, generate};
use maxmargin_io::{Blocks, Error, ReadOptions, read_path, read_source};

use crate::failure::Failure;
use crate::input::{GENERATED_ROWS, Origin};

/// How long to wait for a block before looking around.
const WAIT: Duration = Duration::from_millis(50);

/// What the reading thread sends.
enum Message {
    /// What is known beforehand.
    Begun(Begun),
    Block(Box<Dataset>),
    Failed(Error),
}

/// What is known of the data before its rows are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun {
    /// How many rows there are.
    pub(crate) rows: Option<u64>,
    /// The labels, sorted.
    pub(crate) classes: Option<Vec<Label>>,
    /// How raw columns become numbers, where the data is a table of them.
    pub(crate) recipe: Option<TableRecipe>,
}

/// Blocks of rows, read ahead by one.
pub(crate) struct Feed {
    receiver: Receiver<Message>,
    begun: Begun,
}

impl Feed {
    /// Starts to read. With `whole`, data whose columns may become more from block to block is read as a whole first.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn new(origin: &Origin, options: &ReadOptions, seed: u64, whole: bool) -> Result<Self, Failure> {
        // One block is worked on, one waits, one is read.
        let (sender, receiver) = sync_channel(1);
        let (origin, options) = (origin.clone(), options.clone());
        let read = move || {
            if let Err(error) = send_all(&sender, &origin, &options, seed, whole) {
                let _ = sender.send(Message::Failed(error));
            }
        };
        thread::Builder::new().name("reader".into()).spawn(read).map_err(|error| {
            Failure::new(
                format!("no thread could be started: {}", crate::output::reason(&error)),
                "end other programs, and try again",
            )
        })?;
        Ok(Feed { receiver, begun: Begun::default() })
    }

    /// What is known beforehand, once the first block has arrived.
    pub(crate) fn begun(&self) -> &Begun {
        &self.begun
    }

    /// The next block; `None` at the end. While there is none, `poll` is asked whether to go on waiting.
    ///
    /// # Errors
    /// When the data cannot be read.
    pub(crate) fn next(&mut self, mut poll: impl FnMut() -> bool) -> Result<Next, Failure> {
        loop {
            if !poll() {
                return Ok(Next::Stopped);
            }
            match self.receiver.recv_timeout(WAIT) {
                Ok(Message::Begun(begun)) => self.begun = begun,
                Ok(Message::Block(block)) => return Ok(Next::Block(block)),
                Ok(Message::Failed(error)) => return Err(error.into()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Next::End),
            }
        }
    }
}

/// What comes next.
pub(crate) enum Next {
    Block(Box<Dataset>),
    End,
    /// Whoever was asked did not want to wait.
    Stopped,
}

/// Reads all blocks. That nobody wants them any more is no error.
fn send_all(
    sender: &SyncSender<Message>,
    origin: &Origin,
    options: &ReadOptions,
    seed: u64,
    whole: bool,
) -> Result<(), Error> {
    let send = |message: Message| sender.send(message).is_ok();
    let ready = |data: Dataset| {
        let begun = Begun {
            rows: Some(data.rows() as u64),
            classes: data.answers().labels().map(|labels| labels.classes().to_vec()),
            recipe: None,
        };
        if send(Message::Begun(begun)) {
            send(Message::Block(Box::new(data)));
        }
    };
    let path: PathBuf = match origin {
        Origin::Embedded(name) => {
            if let Some(data) = embedded(name) {
                ready(data);
            }
            return Ok(());
        }
        Origin::Generated(name) => {
            let path = (*name).to_string();
            ready(generate(name, GENERATED_ROWS, seed).map_err(|error| Error::Data { path, error })?);
            return Ok(());
        }
        // It cannot be read again once its columns turn out to grow.
        Origin::Stdin if whole => {
            ready(read_source(io::stdin(), "standard input", options)?);
            return Ok(());
        }
        Origin::Stdin => {
            let mut blocks = Blocks::from_source(io::stdin(), "standard input", options)?;
            return send_blocks(&mut blocks, &send);
        }
        Origin::File(path) => path.clone(),
    };
    let mut blocks = Blocks::open(&path, options)?;
    if whole && blocks.may_grow() {
        drop(blocks);
        ready(read_path(&path, options)?);
        return Ok(());
    }
    send_blocks(&mut blocks, &send)
}

fn send_blocks(blocks: &mut Blocks<'_>, send: &impl Fn(Message) -> bool) -> Result<(), Error> {
    let begun = Begun {
        rows: blocks.rows(),
        classes: blocks.classes().map(<[Label]>::to_vec),
        recipe: blocks.recipe().cloned(),
    };
    if !send(Message::Begun(begun)) {
        return Ok(());
    }
    for block in blocks {
        if !send(Message::Block(Box::new(block?))) {
            break;
        }
    }
    Ok(())
}
