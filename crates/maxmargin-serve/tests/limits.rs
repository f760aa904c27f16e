//! Each limit of the server, from outside: what is within it is answered, what is beyond it is turned away, and the server goes on.
#![allow(clippy::unwrap_used)] // a test may end here

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use maxmargin_serve::{Asked, Limits, Said, Server, Site, StopHandle};

/// A wait that ends a test which would hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a site under test does, and what it has seen.
#[derive(Default)]
struct Seen {
    /// Requests that are worked on now, and the most there have been at a time.
    at_work: AtomicUsize,
    most: AtomicUsize,
    /// Requests whose work was cancelled.
    cancelled: AtomicUsize,
    /// Whether work may end that waits to be let go.
    let_go: Mutex<bool>,
    changed: Condvar,
}

impl Seen {
    fn let_go(&self) {
        *self.let_go.lock().unwrap() = true;
        self.changed.notify_all();
    }

    /// Waits until something has become true.
    fn until(&self, what: &str, done: impl Fn() -> bool) {
        let guard = self.let_go.lock().unwrap();
        let (_guard, timed_out) = self.changed.wait_timeout_while(guard, PATIENCE, |_| !done()).unwrap();
        assert!(!timed_out.timed_out() || done(), "{what} did not happen");
    }

    fn tell(&self) {
        drop(self.let_go.lock().unwrap());
        self.changed.notify_all();
    }
}

/// `/wait` works until it is let go or cancelled, `/panic` has a bug, and all else is answered with the length of its body.
struct Echo(Arc<Seen>);

impl Site for Echo {
    fn answer(&self, asked: Asked<'_>, cancelled: &AtomicBool) -> Said {
        let now = self.0.at_work.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        self.0.tell();
        if asked.path == "/wait" {
            let mut held = self.0.let_go.lock().unwrap();
            while !*held && !cancelled.load(Ordering::Relaxed) {
                // The flag has no signal of its own, so it is looked at now and then.
                held = self.0.changed.wait_timeout(held, Duration::from_millis(5)).unwrap().0;
            }
        }
        if cancelled.load(Ordering::Relaxed) {
            self.0.cancelled.fetch_add(1, Ordering::SeqCst);
        }
        self.0.at_work.fetch_sub(1, Ordering::SeqCst);
        self.0.tell();
        assert!(asked.path != "/panic", "a bug, for the test");
        let length = asked.body.map_or(0, <[u8]>::len);
        Said { status: 200, media_type: "text/plain", body: format!("{length} bytes").into_bytes() }
    }
}

struct Running {
    address: SocketAddr,
    seen: Arc<Seen>,
    stop: StopHandle,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.seen.let_go();
        self.stop.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.unwrap().unwrap().unwrap();
        }
    }
}

fn server(limits: Limits) -> Running {
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), limits).unwrap();
    let (address, stop) = (server.address(), server.stop_handle());
    let seen = Arc::new(Seen::default());
    let site = Echo(seen.clone());
    let thread = Some(std::thread::spawn(move || server.run(site)));
    Running { address, seen, stop, thread }
}

impl Running {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A POST of some bytes to a path.
    fn post(&self, path: &str, length: usize) -> String {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n",
            self.address
        );
        self.raw(&[head.as_bytes(), &vec![b'1'; length]].concat())
    }

    fn get(&self, path: &str) -> String {
        self.raw(format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address).as_bytes())
    }

    /// Sends bytes, and returns what comes back. What is no longer read on the other side may fail to be sent.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        answer(&mut stream)
    }
}

/// All that comes back until the other side closes.
fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The status of an answer; 0 where the connection was closed without one.
fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[test]
fn what_is_within_the_limits_is_answered() {
    let server = server(Limits::default());
    let said = server.post("/any", 1000);
    assert!(said.starts_with("HTTP/1.1 200") && said.ends_with("1000 bytes"), "{said}");
    assert!(said.contains("x-content-type-options: nosniff") && said.contains("cache-control: no-store"), "{said}");
    assert_eq!(status(&server.get("/")), 200);
}

#[test]
fn a_body_of_one_byte_too_many_is_turned_away_with_a_length_and_in_chunks() {
    let server = server(Limits { body_bytes: 1000, ..Limits::default() });
    assert_eq!((status(&server.post("/", 1000)), status(&server.post("/", 1001))), (200, 413));
    let chunked = |length: usize| {
        let head = format!(
            "POST / HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nconnection: close\r\n",
            server.address
        );
        let body = format!("transfer-encoding: chunked\r\n\r\n{length:x}\r\n{}\r\n0\r\n\r\n", "1".repeat(length));
        status(&server.raw((head + &body).as_bytes()))
    };
    assert_eq!((chunked(1000), chunked(1001)), (200, 413));
}

#[test]
fn a_path_or_headers_that_are_too_long_are_turned_away() {
    let server = server(Limits { path_bytes: 100, header_bytes: 8 << 10, ..Limits::default() });
    let path = |length: usize| status(&server.get(&format!("/{}", "a".repeat(length - 1))));
    assert_eq!((path(100), path(101)), (200, 414));
    let headers = |length: usize| {
        let text = format!(
            "GET / HTTP/1.1\r\nhost: {}\r\nx-long: {}\r\nconnection: close\r\n\r\n",
            server.address,
            "a".repeat(length)
        );
        status(&server.raw(text.as_bytes()))
    };
    assert_eq!((headers(1000), headers(64 << 10)), (200, 431));
}

#[test]
fn a_client_that_never_ends_its_headers_or_its_body_is_let_go() {
    let short = Duration::from_millis(200);
    let server = server(Limits { header_time: short, body_time: short, ..Limits::default() });
    let mut headers = server.connect();
    headers.write_all(b"GET / HTTP/1.1\r\nhost: loc").unwrap();
    // The connection ends, though nothing more is sent: reading comes back before the patience of the test is over.
    assert_eq!(answer(&mut headers).matches("200 OK").count(), 0);
    let mut body = server.connect();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 10\r\nconnection: close\r\n\r\n123",
        server.address
    );
    body.write_all(head.as_bytes()).unwrap();
    assert_eq!(status(&answer(&mut body)), 408);
    assert_eq!(status(&server.get("/")), 200);
}

#[test]
fn no_more_requests_are_worked_on_at_a_time_than_the_limit_says() {
    let server = Arc::new(server(Limits { at_work: 2, ..Limits::default() }));
    let clients: Vec<_> = (0..5)
        .map(|_| {
            let server = server.clone();
            std::thread::spawn(move || status(&server.post("/wait", 1)))
        })
        .collect();
    server.seen.until("work on two requests", || server.seen.at_work.load(Ordering::SeqCst) == 2);
    server.seen.let_go();
    assert!(clients.into_iter().all(|client| client.join().unwrap() == 200));
    assert_eq!(server.seen.most.load(Ordering::SeqCst), 2);
}

#[test]
fn work_that_takes_too_long_is_cancelled_and_so_is_work_that_nobody_waits_for() {
    let late = server(Limits { work_time: Duration::from_millis(100), ..Limits::default() });
    assert_eq!(status(&late.post("/wait", 1)), 200);
    assert_eq!(late.seen.cancelled.load(Ordering::SeqCst), 1);

    let left = server(Limits::default());
    let mut stream = left.connect();
    let head = format!(
        "POST /wait HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n1",
        left.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    left.seen.until("work on the request", || left.seen.at_work.load(Ordering::SeqCst) == 1);
    drop(stream);
    left.seen.until("cancelling", || left.seen.cancelled.load(Ordering::SeqCst) == 1);
}

#[test]
fn connections_beyond_the_limit_wait_until_one_ends() {
    let server = server(Limits { connections: 1, header_time: PATIENCE, ..Limits::default() });
    let mut first = server.connect();
    let text = format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    first.write_all(text.as_bytes()).unwrap();
    let mut byte = [0];
    first.read_exact(&mut byte).unwrap();
    // The first connection stays open, and takes the only place.
    let mut second = server.connect();
    second.write_all(text.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n").as_bytes()).unwrap();
    second.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(second.read(&mut byte).is_err(), "it was answered beside the first");
    drop(first);
    second.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(status(&answer(&mut second)), 200);
}

#[test]
fn a_bug_of_the_site_is_an_answer_and_the_server_goes_on() {
    let server = server(Limits::default());
    assert_eq!(status(&server.get("/panic")), 500);
    assert_eq!(status(&server.get("/")), 200);
}
