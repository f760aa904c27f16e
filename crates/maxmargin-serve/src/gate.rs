//! Who may ask. A page of another site can send requests to a server on this machine, and can make its own name mean this machine; so a
//! request has to name a host that is ours, come from a page of ours if it comes from a page, and carry its body in a way that no form can.

use std::net::SocketAddr;

use hyper::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN, TRANSFER_ENCODING,
};
use hyper::{Method, Request};

use crate::limits::Limits;

/// Why a request is turned away: the status, what is wrong, and the way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) error: &'static str,
    pub(crate) help: &'static str,
}

const fn refusal(status: u16, error: &'static str, help: &'static str) -> Refusal {
    Refusal { status, error, help }
}

/// The names by which this server may be called.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    names: Vec<String>,
    /// Whether the server listens on every address of this machine: then a connection may name the one that it came to.
    is_on_all: bool,
}

impl Hosts {
    /// The names of an address; of one on this machine all that mean this machine.
    pub(crate) fn of(address: SocketAddr, more: &[String]) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        names.extend(more.iter().cloned());
        // A browser leaves out the port where it is that of HTTP.
        let bare: Vec<String> = if port == 80 {
            names.iter().filter_map(|name| name.strip_suffix(":80").map(String::from)).collect()
        } else {
            Vec::new()
        };
        names.extend(bare);
        Hosts { names, is_on_all: address.ip().is_unspecified() }
    }

    /// Whether a name is ours. `arrived` is the own address of the connection: a page that makes its own name mean this machine cannot send it,
    /// because browsers send the name that they were given.
    fn has(&self, name: &str, arrived: SocketAddr) -> bool {
        let arrived = SocketAddr::new(arrived.ip().to_canonical(), arrived.port());
        let is_named = self.names.iter().any(|own| own.eq_ignore_ascii_case(name));
        is_named || (self.is_on_all && Hosts::of(arrived, &[]).names.iter().any(|own| own.eq_ignore_ascii_case(name)))
    }
}

/// The only value of a header; an error where there are several, or it is no text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(refusal(400, "a header is there twice", "send each header once"));
    }
    let text = first.map(|value| value.to_str()).transpose();
    text.map_err(|_| refusal(400, "a header is no text", "send headers as text"))
}

/// Checks a request before its body is read. Says whether it has a body.
pub(crate) fn check<B>(
    request: &Request<B>,
    hosts: &Hosts,
    arrived: SocketAddr,
    limits: &Limits,
) -> Result<bool, Refusal> {
    let headers = request.headers();
    let host = match (request.uri().authority(), only(headers, &HOST)?) {
        (Some(authority), _) => authority.as_str(),
        (None, Some(host)) => host,
        (None, None) => return Err(refusal(400, "no host is named", "send the header Host")),
    };
    if !hosts.has(host, arrived) {
        return Err(refusal(421, "this server is not called that", "use the address that it printed when it started"));
    }
    if let Some(origin) = only(headers, &ORIGIN)? {
        let own = origin.strip_prefix("http://").is_some_and(|origin| hosts.has(origin, arrived));
        if !own {
            return Err(refusal(403, "a page of another site may not ask", "open the address of this server itself"));
        }
    }
    let site = only(headers, &HeaderName::from_static("sec-fetch-site"))?;
    if site == Some("cross-site") && request.method() != Method::GET {
        return Err(refusal(403, "a page of another site may not ask", "open the address of this server itself"));
    }
    if request.uri().path().len() > limits.path_bytes
        || request.uri().query().is_some_and(|query| query.len() > limits.path_bytes)
    {
        return Err(refusal(414, "the path is too long", "send the rest as the body"));
    }
    let length = only(headers, &CONTENT_LENGTH)?;
    if length.is_some() && headers.contains_key(TRANSFER_ENCODING) {
        return Err(refusal(400, "the body has two lengths", "send a length, or chunks"));
    }
    match *request.method() {
        Method::GET | Method::HEAD => {
            let is_empty = length.is_none_or(|length| length == "0") && !headers.contains_key(TRANSFER_ENCODING);
            if is_empty { Ok(false) } else { Err(refusal(400, "GET has a body", "send it with POST")) }
        }
        Method::POST => {
            if headers.contains_key(CONTENT_ENCODING) {
                return Err(refusal(415, "the body is compressed", "send it as it is"));
            }
            // A form of another page cannot send these types without asking first, and we never say yes.
            let kind = only(headers, &CONTENT_TYPE)?.unwrap_or_default().split(';').next().unwrap_or_default().trim();
            if !["application/json", "text/csv", "application/octet-stream"].contains(&kind) {
                return Err(refusal(415, "the body is of another type", "send application/json"));
            }
            match length.map(str::parse::<u64>) {
                Some(Err(_)) => Err(refusal(400, "the length is no number", "send the length in bytes")),
                Some(Ok(length)) if length > limits.body_bytes as u64 => Err(TOO_LARGE),
                _ => Ok(true),
            }
        }
        _ => Err(refusal(405, "only GET, HEAD and POST are answered", "use one of these")),
    }
}

pub(crate) const TOO_LARGE: Refusal = refusal(413, "the body is too large", "send less");
pub(crate) const TOO_SLOW: Refusal = refusal(408, "the body took too long", "send it again");
pub(crate) const BROKEN: Refusal = refusal(400, "the body is broken", "send it again");
pub(crate) const BUG: Refusal = refusal(500, "this is a bug of maxmargin", "report it, with what you did");

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, headers: &[(&str, &str)]) -> Result<bool, u16> {
        asked_on("127.0.0.1:8081", "127.0.0.1:8081", method, headers)
    }

    /// Asks a server that listens on an address, over a connection to another.
    fn asked_on(listens: &str, arrived: &str, method: &str, headers: &[(&str, &str)]) -> Result<bool, u16> {
        let hosts = Hosts::of(listens.parse().unwrap(), &[]);
        let mut request = Request::builder().method(method).uri("/answer");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        check(&request, &hosts, arrived.parse().unwrap(), &Limits::default()).map_err(|refusal| refusal.status)
    }

    const OWN: (&str, &str) = ("host", "localhost:8081");
    const JSON: (&str, &str) = ("content-type", "application/json");

    #[test]
    fn requests_of_the_own_page_pass() {
        assert_eq!(asked("GET", &[OWN]), Ok(false));
        assert_eq!(asked("GET", &[("host", "LOCALHOST:8081")]), Ok(false));
        assert_eq!(asked("POST", &[OWN, JSON, ("origin", "http://127.0.0.1:8081")]), Ok(true));
    }

    #[test]
    fn other_hosts_and_origins_are_turned_away() {
        for host in ["evil.example:8081", "localhost", "localhost:80", "127.0.0.1:8081.evil.example", ""] {
            assert_eq!(asked("GET", &[("host", host)]), Err(421), "{host}");
        }
        assert_eq!(asked("GET", &[]), Err(400));
        assert_eq!(asked("GET", &[OWN, OWN]), Err(400));
        for origin in ["https://127.0.0.1:8081", "http://evil.example", "null", "http://localhost:9999"] {
            assert_eq!(asked("POST", &[OWN, JSON, ("origin", origin)]), Err(403), "{origin}");
        }
        assert_eq!(asked("POST", &[OWN, JSON, ("sec-fetch-site", "cross-site")]), Err(403));
    }

    #[test]
    fn a_server_on_all_addresses_answers_to_the_one_that_was_asked_and_to_no_other_name() {
        let on_all = |arrived, host| asked_on("0.0.0.0:8081", arrived, "GET", &[("host", host)]);
        assert_eq!(on_all("192.0.2.7:8081", "192.0.2.7:8081"), Ok(false));
        assert_eq!(on_all("127.0.0.1:8081", "localhost:8081"), Ok(false));
        for host in ["192.0.2.8:8081", "192.0.2.7", "192.0.2.7:80", "evil.example:8081"] {
            assert_eq!(on_all("192.0.2.7:8081", host), Err(421), "{host}");
        }
        let mapped = asked_on("[::]:8081", "[::ffff:192.0.2.7]:8081", "GET", &[("host", "192.0.2.7:8081")]);
        assert_eq!(mapped, Ok(false));
        // On one address, only that one counts.
        let other = asked_on("127.0.0.1:8081", "192.0.2.7:8081", "GET", &[("host", "192.0.2.7:8081")]);
        assert_eq!(other, Err(421));
        let own = [("host", "192.0.2.7:8081"), JSON, ("origin", "http://192.0.2.7:8081")];
        assert_eq!(asked_on("0.0.0.0:8081", "192.0.2.7:8081", "POST", &own), Ok(true));
    }

    #[test]
    fn bodies_that_a_form_could_send_are_turned_away() {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            assert_eq!(asked("POST", &[OWN, ("content-type", kind)]), Err(415), "{kind}");
        }
        assert_eq!(asked("POST", &[OWN, JSON, ("content-encoding", "gzip")]), Err(415));
        assert_eq!(asked("POST", &[OWN, JSON, ("content-length", "999999999")]), Err(413));
        assert_eq!(asked("POST", &[OWN, JSON, ("content-length", "5"), ("transfer-encoding", "chunked")]), Err(400));
        assert_eq!(asked("PUT", &[OWN, JSON]), Err(405));
        assert_eq!(asked("GET", &[OWN, ("content-length", "5")]), Err(400));
    }
}
