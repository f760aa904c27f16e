//! Paths of the page's requests. What was fitted last is kept, so that a finer grid of the same model costs no further fit.

use std::sync::{Arc, Mutex, PoisonError};

use maxmargin::{Control, Workers, worked};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::export::{self, Export};
use crate::fit::Fitted;
use crate::page::assets;
use crate::problem;
use crate::request::Request;
use crate::table;

/// Fits that are kept: two of a comparison, and those of the states before.
const KEPT: usize = 6;

/// What the page begins with.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Start {
    /// The part of a link after `#`.
    pub hash: Option<String>,
    /// A table of the user.
    pub table: Option<serde_json::Value>,
    /// What the table is called.
    pub name: Option<String>,
}

impl Start {
    /// A page that begins with a table of the user.
    ///
    /// # Errors
    /// When the bytes are no table with two columns of numbers and 2 to 6 labels.
    pub fn of_table(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let table = table::read(name, bytes)?;
        let table = serde_json::to_value(table).map_err(|error| Error::new(error.to_string(), "give another table"))?;
        Ok(Start { hash: None, table: Some(table), name: Some(name.into()) })
    }
}

/// An answer to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// The media type.
    pub media_type: &'static str,
    /// The bytes.
    pub body: Vec<u8>,
}

/// A question about an export.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportRequest {
    request: Request,
    what: Export,
}

/// A question about a worked example.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkedRequest {
    id: String,
}

/// A worked example to begin with.
#[derive(Debug, Serialize)]
struct Preset {
    id: &'static str,
    kernel: String,
    /// C; none is a hard margin.
    c: Option<f64>,
    loss: &'static str,
    bias: &'static str,
    positive: Option<String>,
    gamma: Option<f64>,
    coef0: Option<f64>,
    degree: Option<u32>,
}

/// The page, and what it asks.
#[derive(Debug)]
pub struct Routes {
    workers: Workers,
    start: Start,
    kept: Mutex<Vec<Arc<Fitted>>>,
}

impl Routes {
    /// The page of a playground that begins like this.
    pub fn new(start: Start, workers: Workers) -> Self {
        Routes { workers, start, kept: Mutex::new(Vec::new()) }
    }

    /// Answers a path. `body` is none where nothing was sent, as by GET.
    pub fn reply(&self, path: &str, body: Option<&[u8]>, control: &mut dyn Control) -> Reply {
        let result = match (path, body) {
            ("/answer", Some(body)) => self.answer(body, control),
            ("/export", Some(body)) => self.export(body, control),
            ("/worked", Some(body)) => self.worked(body, control),
            ("/table", Some(body)) => table::read("the table", body).and_then(|table| json(&table)),
            ("/start", None) => json(&self.start),
            ("/presets", None) => json(&presets()),
            ("/answer" | "/export" | "/worked" | "/table", None) => return refused(405, "this path takes a question"),
            (_, Some(_)) => return refused(405, "this path takes no question"),
            (path, None) => return file(path),
        };
        result.unwrap_or_else(|error| {
            let body = serde_json::to_vec(&error).unwrap_or_default();
            Reply { status: 400, media_type: JSON, body }
        })
    }

    /// The fit of a request: a kept one, or a new one.
    fn fitted(&self, request: &Request, control: &mut dyn Control) -> Result<Arc<Fitted>, Error> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().iter().find(|fitted| fitted.is_of(request)) {
            return Ok(found.clone());
        }
        let fitted = Arc::new(Fitted::new(request, &self.workers, control)?);
        // One that was broken off is not what somebody else asks for.
        if !matches!(fitted.stop(), maxmargin::Stop::Interrupted | maxmargin::Stop::TimeLimit) {
            let mut kept = lock();
            kept.retain(|other| !other.is_of(request));
            kept.insert(0, fitted.clone());
            kept.truncate(KEPT);
        }
        Ok(fitted)
    }

    fn answer(&self, body: &[u8], control: &mut dyn Control) -> Result<Reply, Error> {
        let request: Request = read(body)?;
        request.check()?;
        let fitted = self.fitted(&request, control)?;
        let body = fitted.look(&request, &self.workers, control)?.to_bytes()?;
        Ok(Reply { status: 200, media_type: "application/octet-stream", body })
    }

    fn export(&self, body: &[u8], control: &mut dyn Control) -> Result<Reply, Error> {
        let ExportRequest { request, what } = read(body)?;
        request.check()?;
        let fitted = self.fitted(&request, control)?;
        let body = export::export(&fitted, what, &self.workers)?;
        Ok(Reply { status: 200, media_type: what.media_type(), body })
    }

    fn worked(&self, body: &[u8], control: &mut dyn Control) -> Result<Reply, Error> {
        let WorkedRequest { id } = read(body)?;
        json(&worked::run(&id, &self.workers, control)?)
    }
}

const JSON: &str = "application/json";

/// A question of the page.
fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, Error> {
    serde_json::from_slice(body)
        .map_err(|error| Error::new(format!("the question cannot be read: {error}"), "load the page again"))
}

fn json(value: &impl Serialize) -> Result<Reply, Error> {
    let body = serde_json::to_vec(value).map_err(|error| Error::new(error.to_string(), "report it, with the link"))?;
    Ok(Reply { status: 200, media_type: JSON, body })
}

fn refused(status: u16, error: &str) -> Reply {
    let body = serde_json::json!({ "error": error, "help": "open the page at /" }).to_string().into_bytes();
    Reply { status, media_type: JSON, body }
}

/// A file of the page.
fn file(path: &str) -> Reply {
    match assets().iter().find(|asset| asset.path == path) {
        Some(asset) => Reply { status: 200, media_type: asset.media_type, body: asset.bytes.to_vec() },
        None => refused(404, "there is no such path"),
    }
}

/// The models of the worked examples.
fn presets() -> Vec<Preset> {
    let of = |id: &'static str| {
        let (_, params) = worked::figure(id)?;
        let parts = problem::kernel_parts(&params.kernel);
        Some(Preset {
            id,
            kernel: parts.0.into(),
            gamma: parts.1,
            coef0: parts.2,
            degree: parts.3,
            c: match params.penalty {
                maxmargin::Penalty::C(c) => Some(c),
                _ => None,
            },
            loss: params.loss.map_or("hinge", maxmargin::Loss::name),
            bias: params.bias.name(),
            positive: params.positive.map(|label| label.text().to_string()),
        })
    };
    worked::ids().into_iter().filter_map(of).collect()
}
