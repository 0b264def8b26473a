//! One question to a model: its turn, its request, its retries.

use std::fmt;
use std::io;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Response, StatusCode, Url};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::address::endpoint;
use super::client::{Client, Connections};
use super::exchange::Exchange;
use super::failure::Stated;
use super::prompt_check::cut_prompt;
use super::reset::{asked_wait, asks_to_wait, quota_resets};
use super::retry::whole_seconds;
use super::stream::{Attempt, NotBegun, read};
use super::transport::transport;
use super::wire::{Adapter, adapter, without_refused_field};
use crate::config::{ModelSettings, Provider};
use crate::session::slot::{Activity, Output, Reason, StreamEnd, TypedError};

/// An error page or message is read this far, and for this long.
const ERROR_BODY: usize = 64 << 10;
const ERROR_BODY_TIME: Duration = Duration::from_secs(10);

/// The shape that an answer must have, for providers that can enforce one.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonSchema {
    /// Its name, `[A-Za-z0-9_-]` only.
    pub name: String,
    /// The schema (JSON Schema, the subset that providers take).
    pub value: Value,
}

/// What is asked of whom.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The endpoint. Header values of the form `${VAR}` are taken from the environment when the request is made.
    pub provider: &'a Provider,
    /// The key, if one is needed; blanks around it are not part of it.
    pub key: Option<&'a str>,
    /// The model's id at the provider.
    pub model: &'a str,
    /// How it is asked.
    pub settings: &'a ModelSettings,
    /// What was said before, oldest first: it is sent again with each request, for no provider is asked to keep it.
    pub history: &'a [Exchange],
    /// The prompt.
    pub prompt: &'a str,
    /// The shape of the answer; sent only to a provider that takes one.
    pub schema: Option<&'a JsonSchema>,
    /// How often it is asked again while nothing of an answer has come.
    pub retries: u32,
}

impl fmt::Debug for Request<'_> {
    /// Without the key and the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("provider", &self.provider.name)
            .field("model", &self.model)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Asks and hands the answer's text to `out` as it comes.
    ///
    /// `Err` is only ever an error of `out`; whatever goes wrong with the model or on the way to it is in the
    /// [`StreamEnd`]. After `stop` it returns at once with [`Reason::Cancelled`].
    ///
    /// Before anything of an answer has come, errors that may pass (408, 429, 5xx, a failed or broken connection)
    /// are retried `retries` times, each announced as [`Activity::Retry`]; a spent quota and a wait of over
    /// [`LONGEST_WAIT`](super::LONGEST_WAIT) are not. A setting that the server refuses is left out, listed in
    /// `dropped_settings`, and the request sent again; that is not a retry.
    pub async fn ask(
        &self,
        request: &Request<'_>,
        out: &mut dyn Output,
        stop: &CancellationToken,
    ) -> io::Result<StreamEnd> {
        let call = match Call::new(self, request) {
            Ok(call) => call,
            Err(error) => return Ok(StreamEnd { error: Some(error), ..StreamEnd::default() }),
        };
        let _turn = match self.limit(request.provider) {
            None => None,
            Some(turns) => {
                out.activity(Activity::Queued);
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(cancelled("stopped before its turn")),
                    // A closed semaphore does not exist here; it would be no limit.
                    turn = turns.acquire_owned() => turn.ok(),
                }
            }
        };
        let mut body = call.adapter.body(request);
        let mut dropped = no_place_for(call.adapter, request.settings);
        let mut waits = self.retry.waits(rand::random());
        let mut attempt = 0;
        loop {
            out.activity(Activity::Waiting);
            let failure = match call.attempt(&body, out, stop).await? {
                Attempt::Ended(mut end) => {
                    end.dropped_settings = dropped;
                    end.error = end.error.or_else(|| cut_prompt(request.texts(), end.usage));
                    return Ok(end);
                }
                Attempt::NotBegun(failure) => failure,
            };
            if let NotBegun::Stated { stated, .. } = &failure
                && let Some(field) = without_refused_field(call.adapter, &mut body, stated)
            {
                dropped.extend(field.map(str::to_owned).filter(|field| !dropped.contains(field)));
                continue;
            }
            let wait = match self.next_wait(&failure, &mut waits) {
                Next::Wait(wait) if attempt < request.retries => wait,
                Next::Wait(_) => return Ok(gave_up(&failure, attempt, None, dropped)),
                Next::GiveUp(why) => return Ok(gave_up(&failure, attempt, why, dropped)),
            };
            attempt += 1;
            out.activity(Activity::Retry {
                attempt,
                of: request.retries,
                in_seconds: whole_seconds(wait),
                why: failure.short(),
            });
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(cancelled("stopped before a retry")),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn next_wait(&self, failure: &NotBegun, waits: &mut impl Iterator<Item = Duration>) -> Next {
        let own = waits.next().unwrap_or(self.retry.ceiling);
        match failure {
            NotBegun::Connection(_) => Next::Wait(own),
            NotBegun::Stated { stated, wait } => {
                let told = wait.filter(|wait| !wait.is_zero());
                if stated.reason() == Reason::QuotaExhausted {
                    return Next::GiveUp(told.map(|wait| quota_resets(wait, Timestamp::now())));
                }
                let too_long = wait.is_some_and(|wait| wait > self.retry.longest);
                if too_long || !stated.passes() {
                    return Next::GiveUp(told.map(|wait| asks_to_wait(wait, Timestamp::now())));
                }
                Next::Wait(wait.unwrap_or(own))
            }
        }
    }
}

enum Next {
    Wait(Duration),
    GiveUp(Option<String>),
}

impl NotBegun {
    /// For the line of a waiting slot: short, and without a word that could name the model.
    fn short(&self) -> String {
        match self {
            Self::Connection(_) => "no connection".to_owned(),
            Self::Stated { stated, .. } => match stated.status {
                Some(status) => format!("HTTP {status}"),
                None => stated.reason().as_str().to_owned(),
            },
        }
    }
}

/// The settings that the user gave and the wire has no field for.
fn no_place_for(adapter: &dyn Adapter, settings: &ModelSettings) -> Vec<String> {
    let is_given = |name: &&&str| match **name {
        "seed" => settings.seed.is_some(),
        _ => false,
    };
    adapter.lacks().iter().filter(is_given).map(|name| (*name).to_owned()).collect()
}

fn cancelled(detail: &str) -> StreamEnd {
    StreamEnd { error: Some(TypedError::new(Reason::Cancelled, detail)), ..StreamEnd::default() }
}

fn gave_up(failure: &NotBegun, retries: u32, why: Option<String>, dropped: Vec<String>) -> StreamEnd {
    let mut error = match failure {
        NotBegun::Connection(detail) => TypedError::new(Reason::Network, detail.clone()),
        NotBegun::Stated { stated, .. } => stated.typed(),
    };
    if let Some(why) = why {
        error.detail = format!("{}; {why}", error.detail.trim_end_matches('.'));
    }
    if retries > 0 {
        let times = if retries == 1 { "once" } else { "times" };
        let count = if retries == 1 { String::new() } else { format!("{retries} ") };
        error.detail = format!("{} (tried again {count}{times})", error.detail);
    }
    StreamEnd { error: Some(error), dropped_settings: dropped, ..StreamEnd::default() }
}

/// What stays the same over all attempts of one question.
struct Call {
    adapter: &'static dyn Adapter,
    connections: Connections,
    url: Url,
    headers: HeaderMap,
}

impl Call {
    fn new(client: &Client, request: &Request<'_>) -> Result<Self, TypedError> {
        let adapter = adapter(request.provider.wire);
        let mut url = endpoint(&request.provider.base_url, &adapter.path(request.model))
            .map_err(|error| TypedError::new(Reason::Network, error.to_string()))?;
        if let Some((name, value)) = adapter.query() {
            url.query_pairs_mut().append_pair(name, value);
        }
        let connections = client.connections(&url).map_err(|error| TypedError::new(Reason::Network, error))?;
        let headers = headers_of(adapter, request.provider, request.key)?;
        Ok(Self { adapter, connections, url, headers })
    }

    async fn attempt(
        &self,
        body: &Map<String, Value>,
        out: &mut dyn Output,
        stop: &CancellationToken,
    ) -> io::Result<Attempt> {
        // Maps of JSON values always have a text.
        let text = serde_json::to_vec(body).map_err(io::Error::other)?;
        let send = self.connections.post(self.url.clone()).headers(self.headers.clone()).body(text).send();
        let response = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(Attempt::Ended(cancelled("stopped while the answer was awaited"))),
            response = send => response,
        };
        let response = match response {
            Ok(response) => response,
            Err(error) => return Ok(Attempt::NotBegun(NotBegun::Connection(transport(error)))),
        };
        if response.status().is_success() {
            if let Some(encoding) = unread_encoding(&response) {
                let detail = format!("the answer is compressed as `{encoding}`, which was not asked for");
                let error = Some(TypedError::new(Reason::BadOutput, detail));
                return Ok(Attempt::Ended(StreamEnd { error, ..StreamEnd::default() }));
            }
            if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
                let detail = format!("the answer has no content (HTTP {})", response.status().as_u16());
                let error = Some(TypedError::new(Reason::BadOutput, detail));
                return Ok(Attempt::Ended(StreamEnd { error, ..StreamEnd::default() }));
            }
            return read(response, self.adapter, out, stop).await;
        }
        let headers = response.headers().clone();
        tokio::select! {
            biased;
            () = stop.cancelled() => Ok(Attempt::Ended(cancelled("stopped while the answer was awaited"))),
            stated = refusal(response) => {
                let wait = asked_wait(&headers, &stated, Timestamp::now());
                Ok(Attempt::NotBegun(NotBegun::Stated { stated, wait }))
            }
        }
    }
}

/// The headers of every request to `provider`, with the key and the user's own.
pub(super) fn headers_of(
    adapter: &dyn Adapter,
    provider: &Provider,
    key: Option<&str>,
) -> Result<HeaderMap, TypedError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/x-ndjson, application/json"));
    // A proxy that compresses a stream holds it back to fill its blocks.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in adapter.headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = key.map(str::trim).filter(|key| !key.is_empty()) {
        let (name, value) = adapter
            .key_header(key)
            .map_err(|_| TypedError::new(Reason::Auth, "the key holds a character that no HTTP header can carry"))?;
        headers.insert(name, value);
    }
    for (name, value) in &provider.headers {
        let (name, value) = header(name, value, |variable| std::env::var(variable).ok())?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// A header of the user's, with `${VAR}` filled in.
fn header(
    name: &str,
    value: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(HeaderName, HeaderValue), TypedError> {
    let mut filled = String::new();
    let mut rest = value;
    while let Some(start) = rest.find("${") {
        let Some(end) = rest[start..].find('}') else { break };
        let wanted = &rest[start + 2..start + end];
        let found = variable(wanted).ok_or_else(|| {
            TypedError::new(
                Reason::Auth,
                format!("the header `{name}` needs the variable `{wanted}`, which is not set"),
            )
        })?;
        filled.push_str(&rest[..start]);
        filled.push_str(found.trim());
        rest = &rest[start + end + 1..];
    }
    filled.push_str(rest);
    let bad = |what: &str| {
        TypedError::new(Reason::ApiError, format!("the header `{name}` has a {what} that HTTP cannot carry"))
    };
    let header = HeaderName::try_from(name).map_err(|_| bad("name"))?;
    let mut value = HeaderValue::try_from(filled).map_err(|_| bad("value"))?;
    value.set_sensitive(true);
    Ok((header, value))
}

/// How the body is still encoded: gzip is gone by now, although none was asked for.
fn unread_encoding(response: &Response) -> Option<String> {
    let encoding = response.headers().get(CONTENT_ENCODING)?.to_str().ok()?.trim();
    (!encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity")).then(|| encoding.to_owned())
}

/// The words of a response that is no success.
async fn refusal(response: Response) -> Stated {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).map(str::to_owned);
    // Without its words the status alone says enough.
    let body = match unread_encoding(&response) {
        Some(_) => Vec::new(),
        None => tokio::time::timeout(ERROR_BODY_TIME, beginning(response)).await.unwrap_or_default(),
    };
    let mut stated = Stated::from_body(status, &body);
    if (300..400).contains(&status) {
        let to = location.map(|to| format!(" to `{to}`")).unwrap_or_default();
        stated.message = format!(
            "a redirect{to} was not followed: prompt and key stay with the host in `base_url`; change that if the API \
             has moved"
        );
    }
    stated
}

async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < ERROR_BODY {
        match response.chunk().await {
            Ok(Some(bytes)) => body.extend_from_slice(&bytes[..bytes.len().min(ERROR_BODY - body.len())]),
            Ok(None) | Err(_) => break,
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_in_headers_are_filled_in_and_a_missing_one_is_named() {
        let lookup = |name: &str| (name == "ORG").then(|| "acme\n".to_owned());
        let (name, value) = header("X-Org", "org-${ORG}!", lookup).unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-org", "org-acme!"));
        assert!(value.is_sensitive());
        let error = header("X-Org", "${GONE}", lookup).unwrap_err();
        assert_eq!(error.reason, Reason::Auth);
        assert!(error.detail.contains("`GONE`"), "{}", error.detail);
        assert!(header("a b", "x", lookup).is_err());
    }
}
