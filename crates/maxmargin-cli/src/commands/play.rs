//! `play`: the playground, served to the browser on this machine.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use maxmargin::data::generate;
use maxmargin::error::quoted;
use maxmargin::{Control, Progress, Stop, Workers, embedded, worked};
use maxmargin_play::{Routes, Start};
use maxmargin_serve::{Asked, Limits, Said, Server, Site};

use crate::arguments::Play;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::output::{self, Words, escaped};

/// The address where none is named.
const USUAL: &str = "127.0.0.1:8081";
/// Time of a fit. What is there then is shown, with its gap.
const FIT_TIME: Duration = Duration::from_secs(5);
/// Time of a worked example, which runs every solver.
const WORKED_TIME: Duration = Duration::from_secs(50);
/// Bytes of a file to begin with: more rows than a picture can show.
const MOST_BYTES: u64 = 64 << 20;
/// What the page may do: run its own modules and ask its own server, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// Serves the page until the program is ended.
pub(super) fn run(arguments: &Play) -> Result<ExitCode, Failure> {
    let words = Words { quiet: false };
    let start = arguments.begin.as_deref().map_or_else(|| Ok(Start::default()), |begin| start(begin, words))?;
    let server = bind(arguments.listen, words)?;
    let hash = start.hash.as_deref().map_or_else(String::new, |hash| format!("#{hash}"));
    let address = server.address();
    let url = format!("http://{}/{hash}", on_this_machine(address));
    if !address.ip().is_loopback() {
        words.warning(
            "everybody who can reach this address can use the playground and this machine's processor",
            "leave out --listen, so that only this machine can reach it",
        );
    }
    if address.ip().is_unspecified() {
        let port = address.port();
        words.note(&format!("other machines reach it at port {port} of each address of this machine"));
    }
    output::print(&format!("the playground is at {url}\nCtrl-C ends it\n"))?;
    if !arguments.no_browser {
        open(&url, words);
    }
    let site = Playground { routes: Routes::new(start, Workers::new(0)?) };
    server.run(site).map_err(|error| {
        Failure::new(
            format!("the server cannot begin: {}", output::reason(&error)),
            "try another address with --listen",
        )
    })?;
    Ok(ExitCode::Done)
}

/// The address by which this machine reaches a server of its own: one on all addresses is on the loopback too.
fn on_this_machine(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(address) if address.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, address.port()).into(),
        SocketAddr::V6(address) if address.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, address.port()).into(),
        named => named,
    }
}

/// What the page begins with.
fn start(begin: &Path, words: Words) -> Result<Start, Failure> {
    let text = begin.to_string_lossy();
    let is_link = text.starts_with("http://") || text.starts_with("https://") || text.starts_with('#');
    if is_link || text.starts_with("v=1&") {
        let hash = text.split_once('#').map_or(&*text, |(_, hash)| hash);
        return match hash.starts_with("v=1") && hash.chars().all(|c| c.is_ascii_graphic()) {
            true => Ok(Start { hash: Some(hash.into()), ..Start::default() }),
            false => Err(Failure::new(
                "the link has no state of the playground after #",
                "copy it from the page with the button Link, and put it between quotes",
            )),
        };
    }
    let name = text.to_ascii_lowercase();
    let is_known = worked::figure(&name).is_some() || embedded(&name).is_some() || generate::NAMES.contains(&&*name);
    if is_known && !begin.exists() {
        return Ok(Start { hash: Some(format!("v=1&d={name}")), ..Start::default() });
    }
    let shown = quoted(&text);
    let fail = |why: String| {
        Failure::new(
            format!("cannot read {shown}: {why}"),
            format!("give a file, or one of e1 to e10, iris, {}", generate::NAMES.join(", ")),
        )
    };
    let size = std::fs::metadata(begin).map_err(|error| fail(output::reason(&error)))?;
    if size.len() > MOST_BYTES {
        return Err(Failure::new(
            format!("{shown} has {}, more than the playground can show", maxmargin::error::bytes(size.len())),
            "take a sample of its rows, or train on all of them with maxmargin train",
        ));
    }
    let bytes = std::fs::read(begin).map_err(|error| fail(output::reason(&error)))?;
    if is_known {
        words.note(&format!("there is a file {} in this folder, and it is read", escaped(&text)));
    }
    let name = begin.file_name().map_or_else(|| text.clone(), |name| name.to_string_lossy());
    Start::of_table(&name, &bytes).map_err(|error| Failure::new(error.error, error.help))
}

/// Takes the address that was named, or the usual one, or any that is free.
fn bind(listen: Option<SocketAddr>, words: Words) -> Result<Server, Failure> {
    let usual = SocketAddr::from(([127, 0, 0, 1], 8081));
    let address = listen.unwrap_or(usual);
    match Server::bind(address, Limits::default()) {
        Ok(server) => Ok(server),
        Err(_) if listen.is_none() => {
            let free = SocketAddr::from(([127, 0, 0, 1], 0));
            let server = Server::bind(free, Limits::default()).map_err(|error| refused(free, &error))?;
            words.note(&format!("{USUAL} is taken, so another port was chosen"));
            Ok(server)
        }
        Err(error) => Err(refused(address, &error)),
    }
}

fn refused(address: SocketAddr, error: &std::io::Error) -> Failure {
    Failure::new(
        format!("cannot listen on {address}: {}", output::reason(error)),
        "choose an address of this machine that no other program uses, such as --listen 127.0.0.1:0",
    )
}

/// Opens the address in the browser, where there is a screen. The address was printed, so a failure is only a note.
fn open(url: &str, words: Words) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some()) {
        "xdg-open"
    } else {
        words.note("there is no screen here, so no browser was opened");
        return;
    };
    let started =
        Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match started {
        // Waited for, so that it does not stay behind as a process without a parent.
        Ok(mut child) => drop(std::thread::Builder::new().spawn(move || child.wait())),
        Err(_) => words.note("no browser could be opened; open the address yourself"),
    }
}

/// The playground as a site.
struct Playground {
    routes: Routes,
}

impl Site for Playground {
    fn answer(&self, asked: Asked<'_>, cancelled: &AtomicBool) -> Said {
        let limit = if asked.path == "/worked" { WORKED_TIME } else { FIT_TIME };
        let mut control = Until { cancelled, end: Instant::now() + limit };
        let reply = self.routes.reply(asked.path, asked.body, &mut control);
        Said { status: reply.status, media_type: reply.media_type, body: reply.body }
    }

    fn headers(&self) -> &[(&'static str, &'static str)] {
        &[("content-security-policy", POLICY)]
    }
}

/// Lets a fit go on until nobody waits for it any more, or its time is over. It states no limit to the training, which would otherwise begin with
/// some of the rows: the bits are those of the command line.
struct Until<'a> {
    cancelled: &'a AtomicBool,
    end: Instant,
}

impl Control for Until<'_> {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        if self.cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(Stop::Interrupted)
        } else if Instant::now() >= self.end {
            ControlFlow::Break(Stop::TimeLimit)
        } else {
            ControlFlow::Continue(())
        }
    }
}
