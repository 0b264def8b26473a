//! The connections that all slots of a run share, and the limits per provider.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::{Url, redirect};
use tokio::sync::Semaphore;

use super::address::{is_loopback, same_origin};
use super::failure::transport;
use super::retry::RetryPolicy;
use crate::config::Provider;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const REDIRECTS: usize = 5;

/// Asks model APIs. Cheap to share behind an `Arc`; one per run keeps connections and limits common to all slots.
///
/// There is no limit on how long an answer takes: only connecting has one. Keys live in the requests that carry
/// them, never here.
#[derive(Debug, Default)]
pub struct Client {
    pub(super) retry: RetryPolicy,
    connections: [OnceLock<Result<reqwest::Client, String>>; 3],
    limits: Mutex<HashMap<(String, String), Arc<Semaphore>>>,
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

    /// The connections for `url`, or why there can be none.
    pub(super) fn connections(&self, url: &Url) -> Result<&reqwest::Client, String> {
        let route = Route::of(url);
        let made = self.connections[route as usize].get_or_init(|| build(route).map_err(transport));
        made.as_ref().map_err(Clone::clone)
    }

    /// The turns of `provider`, if it has a limit.
    pub(super) fn limit(&self, provider: &Provider) -> Option<Arc<Semaphore>> {
        let turns = provider.max_concurrent?.clamp(1, Semaphore::MAX_PERMITS);
        let key = (provider.name.clone(), provider.base_url.clone());
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(limits.entry(key).or_insert_with(|| Arc::new(Semaphore::new(turns)))))
    }
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
        .redirect(redirect::Policy::custom(follow));
    if matches!(route, Route::LoopbackPlain | Route::LoopbackTls) {
        builder = builder.no_proxy();
    }
    if route == Route::LoopbackPlain {
        builder = builder.tls_certs_only([]);
    }
    builder.build()
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
