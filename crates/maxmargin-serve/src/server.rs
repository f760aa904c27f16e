//! Connections, bodies, threads for the work, and cancelling.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::gate::{self, Hosts, Refusal};
use crate::limits::Limits;
use crate::{Asked, Said, Site};

/// Headers of every answer, those to broken requests included.
const HEADERS: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// A server that has its address, and can begin.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    hosts: Hosts,
    limits: Limits,
    stop: StopHandle,
}

/// Ends a server from another thread.
#[derive(Clone, Debug, Default)]
pub struct StopHandle(Arc<Notify>);

impl StopHandle {
    /// Lets the server accept no more, and return.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// What the requests share.
struct Shared<S> {
    site: S,
    hosts: Hosts,
    limits: Limits,
    at_work: Semaphore,
}

impl Server {
    /// Takes an address. Port 0 is any that is free.
    ///
    /// # Errors
    /// When the address is taken, or not one of this machine.
    pub fn bind(address: SocketAddr, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, hosts: Hosts::of(address, &[]), limits, stop: StopHandle::default() })
    }

    /// The address, with the port that was free.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the server from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Serves a site until it is stopped.
    ///
    /// # Errors
    /// When the system refuses what is needed to begin.
    pub fn run(self, site: impl Site) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(self.limits.at_work + 1)
            .build()?;
        let Server { listener, hosts, limits, stop, .. } = self;
        let shared = Arc::new(Shared { site, hosts, limits, at_work: Semaphore::new(limits.at_work) });
        let result = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            tokio::select! {
                () = accept(&listener, &shared) => {}
                () = stop.0.notified() => {}
            }
            Ok(())
        });
        // Work that nobody waits for any more is left to end by itself.
        runtime.shutdown_background();
        result
    }
}

/// Accepts connections for ever, at most as many at a time as the limits say.
async fn accept<S: Site>(listener: &tokio::net::TcpListener, shared: &Arc<Shared<S>>) {
    let places = Arc::new(Semaphore::new(shared.limits.connections));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for instance: a moment later there may be room.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let Ok(arrived) = stream.local_addr() else { continue };
        let shared = shared.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| respond(shared.clone(), arrived, request));
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(shared.limits.header_time)
                .max_buf_size(shared.limits.header_bytes)
                .serve_connection(TokioIo::new(stream), service);
            // A client that goes away is no fault of ours.
            let _ = connection.await;
            drop(place);
        });
    }
}

/// Becomes true when the future that waits for the work is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn respond<S: Site>(
    shared: Arc<Shared<S>>,
    arrived: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let is_head = request.method() == Method::HEAD;
    let said = match asked(shared.clone(), arrived, request).await {
        Ok(said) => said,
        Err(refusal) => said_of(refusal),
    };
    let body = if is_head { Bytes::new() } else { said.body.into() };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = StatusCode::from_u16(said.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(said.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in HEADERS.iter().chain(shared.site.headers()) {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    Ok(response)
}

/// Passes the gate, reads the body and has the site answer on another thread.
async fn asked<S: Site>(
    shared: Arc<Shared<S>>,
    arrived: SocketAddr,
    request: Request<Incoming>,
) -> Result<Said, Refusal> {
    let has_body = gate::check(&request, &shared.hosts, arrived, &shared.limits)?;
    let path = request.uri().path().to_string();
    let body = if has_body { Some(body(request, &shared.limits).await?) } else { None };
    let cancelled = Arc::new(AtomicBool::new(false));
    let guard = CancelOnDrop(cancelled.clone());
    let Ok(_place) = shared.at_work.acquire().await else { return Err(gate::BUG) };
    let work = {
        let (shared, cancelled) = (shared.clone(), cancelled.clone());
        tokio::task::spawn_blocking(move || {
            shared.site.answer(Asked { path: &path, body: body.as_deref() }, &cancelled)
        })
    };
    tokio::pin!(work);
    let done = match timeout(shared.limits.work_time, &mut work).await {
        Ok(done) => done,
        Err(_) => {
            cancelled.store(true, Ordering::Relaxed);
            work.await
        }
    };
    drop(guard);
    done.map_err(|_| gate::BUG)
}

/// Reads a body within its limits.
async fn body(request: Request<Incoming>, limits: &Limits) -> Result<Bytes, Refusal> {
    let whole = Limited::new(request.into_body(), limits.body_bytes).collect();
    match timeout(limits.body_time, whole).await {
        Err(_) => Err(gate::TOO_SLOW),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(gate::TOO_LARGE),
        Ok(Err(_)) => Err(gate::BROKEN),
    }
}

/// A refusal as an answer. Its words are ours, so that nothing in them has to be escaped.
fn said_of(Refusal { status, error, help }: Refusal) -> Said {
    let body = format!("{{\"error\":\"{error}\",\"help\":\"{help}\"}}").into_bytes();
    Said { status, media_type: "application/json", body }
}
