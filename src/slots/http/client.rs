//! The connections that all slots of a run share, and the limits per provider.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Url, redirect};
use tokio::sync::Semaphore;

use super::address::{is_loopback, same_origin};
use super::retry::RetryPolicy;
use super::transport::transport;
use crate::config::Provider;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const REDIRECTS: usize = 5;

/// Requests at once over one set of connections to a TLS host. HTTP/2 puts them all on one connection, and servers take
/// about a hundred there; more would wait in line without a word.
const SHARED_BY: usize = 64;
/// What may be under way of one HTTP/2 answer, and of all on a connection: one that is not read holds up no other.
const STREAM_WINDOW: u32 = 512 << 10;
const CONNECTION_WINDOW: u32 = STREAM_WINDOW * SHARED_BY as u32;
/// How long the other side may take to answer an HTTP/2 ping, sent while answers are awaited: a model may think for
/// minutes, a dead connection is told from it by this alone.
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Asks model APIs. Cheap to share behind an `Arc`; one per run keeps connections and limits common to all slots.
///
/// There is no limit on how long an answer takes: only connecting has one. Keys live in the requests that carry
/// them, never here.
#[derive(Debug, Default)]
pub struct Client {
    pub(super) retry: RetryPolicy,
    connections: [Mutex<Vec<Share>>; 3],
    limits: Mutex<HashMap<(String, String), Arc<Semaphore>>>,
}

/// A set of connections, and who uses it.
#[derive(Debug)]
struct Share {
    client: reqwest::Client,
    /// One more than its users.
    users: Arc<()>,
}

/// The use of a set of connections by one question.
#[derive(Debug)]
pub(super) struct Connections {
    client: reqwest::Client,
    _user: Arc<()>,
}

impl Connections {
    /// A request to be sent over them.
    pub(super) fn post(&self, url: Url) -> reqwest::RequestBuilder {
        self.client.post(url)
    }

    /// A request for what is there.
    pub(super) fn get(&self, url: Url) -> reqwest::RequestBuilder {
        self.client.get(url)
    }
}

/// What a connection needs, each made on first use: looking up the system's certificates takes longer than a whole
/// local answer, and a machine without any can still ask its own servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    /// `http:` to this machine: no proxy, no certificates.
    LoopbackPlain = 0,
    /// `https:` to this machine: no proxy.
    LoopbackTls = 1,
    /// Everything else: the environment's proxy.
    Remote = 2,
}

impl Route {
    fn of(url: &Url) -> Self {
        match (is_loopback(url), url.scheme()) {
            (true, "http") => Self::LoopbackPlain,
            (true, _) => Self::LoopbackTls,
            (false, _) => Self::Remote,
        }
    }
}

impl Client {
    /// A client with the usual spacing of retries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A client that spaces retries by `retry`.
    #[must_use]
    pub fn with_retry_policy(retry: RetryPolicy) -> Self {
        Self { retry, ..Self::default() }
    }

    /// The connections for a question to `url`, or why there can be none.
    pub(super) fn connections(&self, url: &Url) -> Result<Connections, String> {
        let route = Route::of(url);
        let most = if url.scheme() == "https" { SHARED_BY } else { usize::MAX };
        let mut shares = self.connections[route as usize].lock().unwrap_or_else(PoisonError::into_inner);
        lease(&mut shares, most, || build(route)).map_err(|error| cannot_be_made(transport(error)))
    }

    /// The turns of `provider`, if it has a limit.
    pub(super) fn limit(&self, provider: &Provider) -> Option<Arc<Semaphore>> {
        let turns = provider.max_concurrent?.clamp(1, Semaphore::MAX_PERMITS);
        let key = (provider.name.clone(), provider.base_url.clone());
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(limits.entry(key).or_insert_with(|| Arc::new(Semaphore::new(turns)))))
    }
}

/// A set that fewer than `most` use, else a new one.
fn lease(
    shares: &mut Vec<Share>,
    most: usize,
    make: impl FnOnce() -> reqwest::Result<reqwest::Client>,
) -> reqwest::Result<Connections> {
    let lend = |share: &Share| Connections { client: share.client.clone(), _user: Arc::clone(&share.users) };
    if let Some(free) = shares.iter().find(|share| Arc::strong_count(&share.users) <= most) {
        return Ok(lend(free));
    }
    let share = Share { client: make()?, users: Arc::new(()) };
    let lent = lend(&share);
    shares.push(share);
    Ok(lent)
}

fn build(route: Route) -> reqwest::Result<reqwest::Client> {
    // Another part of the process may have chosen a provider first; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("team/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(KEEP_ALIVE)
        .tcp_keepalive_interval(KEEP_ALIVE / 2)
        .tcp_keepalive_retries(4)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .redirect(redirect::Policy::custom(follow));
    if matches!(route, Route::LoopbackPlain | Route::LoopbackTls) {
        builder = builder.no_proxy();
    }
    if route == Route::LoopbackPlain {
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// Why there are no connections; certificates are the usual reason, and these variables the usual reason for that.
fn cannot_be_made(error: String) -> String {
    let given = ["SSL_CERT_FILE", "SSL_CERT_DIR"].map(|name| (name, std::env::var_os(name)));
    let given: Vec<String> = given
        .into_iter()
        .filter_map(|(name, value)| Some(format!("`{name}` is `{}`", value?.to_string_lossy())))
        .collect();
    if given.is_empty() { error } else { format!("{error}; {}", given.join(", ")) }
}

/// Follows a redirect only within the same scheme, host and port, and only one that keeps the request a POST: the
/// prompt and every header that may hold a key stay with the host that the user named.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
    let previous = attempt.previous();
    let same = previous.last().is_some_and(|from| same_origin(from, attempt.url()));
    if keeps_method && same && previous.len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Wire;

    fn provider(name: &str, max_concurrent: Option<usize>) -> Provider {
        Provider {
            name: name.to_owned(),
            wire: Wire::OpenaiChat,
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            api_key_env: None,
            headers: Default::default(),
            max_concurrent,
            json_schema: false,
        }
    }

    #[test]
    fn a_limit_is_shared_by_all_requests_of_a_provider() {
        let client = Client::new();
        let one = client.limit(&provider("a", Some(2))).unwrap();
        assert!(Arc::ptr_eq(&one, &client.limit(&provider("a", Some(2))).unwrap()));
        assert!(!Arc::ptr_eq(&one, &client.limit(&provider("b", Some(2))).unwrap()));
        assert_eq!(one.available_permits(), 2);
        assert!(client.limit(&provider("a", None)).is_none());
    }

    #[test]
    fn a_set_of_connections_is_shared_by_so_many_and_used_again_when_it_is_free() {
        let mut shares = Vec::new();
        let lend = |shares: &mut Vec<Share>| lease(shares, 2, || build(Route::LoopbackPlain)).unwrap();
        let users: Vec<Connections> = (0..3).map(|_| lend(&mut shares)).collect();
        assert_eq!(shares.len(), 2);
        drop(users);
        let _again: Vec<Connections> = (0..4).map(|_| lend(&mut shares)).collect();
        assert_eq!(shares.len(), 2);
    }

    #[test]
    fn this_machine_is_asked_without_proxy_and_certificates() {
        for (url, route) in [
            ("http://127.0.0.1:1/", Route::LoopbackPlain),
            ("https://localhost/", Route::LoopbackTls),
            ("http://models.example/", Route::Remote),
        ] {
            assert_eq!(Route::of(&Url::parse(url).unwrap()), route);
        }
    }
}
