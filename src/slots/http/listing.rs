//! Which models a provider has, as it says itself: asked before a run, so that a wrong name is told before anything is
//! made.
//!
//! A list alone does not decide that a name is wrong: some providers take short forms of the names that they list, and
//! some servers any name at all. A name that is missing is asked for by itself before it counts as unknown, and whatever
//! else goes wrong here is no verdict on it.

use std::time::Duration;

use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde_json::json;

use super::address::endpoint;
use super::ask::headers_of;
use super::client::Client;
use super::transport::transport;
use super::wire::adapter;
use crate::config::{Provider, Wire, close_matches};

/// How long a provider may take to say what it has, and again to say it of one model.
const PATIENCE: Duration = Duration::from_secs(3);
/// A list is read this far.
const LONGEST: usize = 16 << 20;

/// Why a provider's models are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotListed(String);

/// What a provider says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    names: Vec<String>,
    /// Whether it answers to names that it does not list.
    takes_any: bool,
}

/// Where a name stands with a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It has a model of this name, or may have.
    Taken,
    /// It has none; these come near.
    Unknown(Vec<String>),
}

impl Listing {
    /// The names, as the provider writes them.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn has(&self, wire: Wire, name: &str) -> bool {
        let known = |name: &str| self.names.iter().any(|known| known.eq_ignore_ascii_case(name));
        match wire {
            Wire::OllamaChat => known(name) || !name.contains(':') && known(&format!("{name}:latest")),
            Wire::GeminiGenerate => known(name.trim_start_matches("models/")),
            // Providers that route to others take a way of routing behind the name (`maker/model:floor`).
            // Some take the newest of a kind by this ending, and do not list it.
            Wire::OpenaiChat => {
                let known_as = |(model, _)| known(model);
                known(name)
                    || name.rsplit_once(':').is_some_and(known_as)
                    || name.strip_suffix("-latest").is_some_and(known)
            }
            Wire::OpenaiResponses | Wire::AnthropicMessages => known(name),
        }
    }
}

impl Client {
    /// Asks `provider` which models it has.
    pub async fn list(&self, provider: &Provider, key: Option<&str>) -> Result<Listing, NotListed> {
        let (path, query) = match provider.wire {
            Wire::OpenaiChat | Wire::OpenaiResponses => ("models", None),
            Wire::AnthropicMessages => ("models", Some(("limit", "1000"))),
            Wire::GeminiGenerate => ("models", Some(("pageSize", "1000"))),
            Wire::OllamaChat => ("api/tags", None),
        };
        let mut url = address(provider, path)?;
        if let Some((name, value)) = query {
            url.query_pairs_mut().append_pair(name, value);
        }
        let (status, body) = self.look(provider, key, url, None).await?;
        if !status.is_success() {
            return Err(NotListed(format!("HTTP {}", status.as_u16())));
        }
        parse(&body)
    }

    /// Whether `provider`, which has `listing`, takes `name`.
    pub async fn standing(
        &self,
        provider: &Provider,
        key: Option<&str>,
        listing: &Listing,
        name: &str,
    ) -> Result<Standing, NotListed> {
        if listing.takes_any || listing.has(provider.wire, name) {
            return Ok(Standing::Taken);
        }
        let (path, body) = match provider.wire {
            Wire::OllamaChat => ("api/show".to_owned(), Some(json!({ "model": name }))),
            Wire::GeminiGenerate => (format!("models/{}", name.trim_start_matches("models/")), None),
            Wire::OpenaiChat | Wire::OpenaiResponses | Wire::AnthropicMessages => (format!("models/{name}"), None),
        };
        let (status, _) = self.look(provider, key, address(provider, &path)?, body).await?;
        match status {
            status if status.is_success() => Ok(Standing::Taken),
            // Some say so of a name that no model could have.
            StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST => Ok(Standing::Unknown(
                close_matches(name, listing.names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect(),
            )),
            status => Err(NotListed(format!("HTTP {}", status.as_u16()))),
        }
    }

    async fn look(
        &self,
        provider: &Provider,
        key: Option<&str>,
        url: Url,
        body: Option<serde_json::Value>,
    ) -> Result<(StatusCode, Vec<u8>), NotListed> {
        let headers = headers_of(adapter(provider.wire), provider, key).map_err(|error| NotListed(error.detail))?;
        let connections = self.connections(&url).map_err(NotListed)?;
        let request = match body {
            Some(body) => connections.post(url).json(&body),
            None => connections.get(url),
        };
        let answer = async {
            let mut response = request.headers(headers).send().await.map_err(|error| NotListed(transport(error)))?;
            let status = response.status();
            let mut bytes = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|error| NotListed(transport(error)))? {
                if bytes.len() + chunk.len() > LONGEST {
                    return Err(NotListed("the list has no end".to_owned()));
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok((status, bytes))
        };
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(NotListed(format!("no answer within {} seconds", PATIENCE.as_secs()))),
        }
    }
}

fn address(provider: &Provider, path: &str) -> Result<Url, NotListed> {
    endpoint(&provider.base_url, path).map_err(|error| NotListed(error.to_string()))
}

/// One entry; of its names the first that is there counts.
#[derive(Deserialize)]
struct Entry {
    id: Option<String>,
    name: Option<String>,
    /// Other names for the same.
    #[serde(default)]
    aliases: Vec<String>,
    owned_by: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    data: Option<Vec<Entry>>,
    models: Option<Vec<Entry>>,
}

/// Reads a list of any of the wires; some servers send one without anything around it.
fn parse(body: &[u8]) -> Result<Listing, NotListed> {
    let page: Option<Page> = serde_json::from_slice(body).ok();
    let entries = page.and_then(|page| page.data.or(page.models)).or_else(|| serde_json::from_slice(body).ok());
    let entries: Vec<Entry> = entries.ok_or_else(|| NotListed("its answer is no list of models".to_owned()))?;
    // The server of llama.cpp has one model and answers to every name with it.
    let takes_any = entries.iter().any(|entry| entry.owned_by.as_deref() == Some("llamacpp"));
    let names: Vec<String> = entries
        .into_iter()
        .flat_map(|entry| entry.id.or(entry.name).into_iter().chain(entry.aliases))
        .map(|name| name.strip_prefix("models/").map_or_else(|| name.clone(), str::to_owned))
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() { Err(NotListed("it lists no models".to_owned())) } else { Ok(Listing { names, takes_any }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(body: &str) -> Listing {
        parse(body.as_bytes()).unwrap()
    }

    #[test]
    fn lists_of_every_wire_are_read() {
        for (body, names) in [
            (r#"{"object":"list","data":[{"id":"gpt-4o","object":"model","owned_by":"system"}]}"#, &["gpt-4o"][..]),
            (r#"{"data":[{"type":"model","id":"claude-a","display_name":"A"}],"has_more":false}"#, &["claude-a"]),
            (r#"{"models":[{"name":"models/gemini-a","displayName":"A"}],"nextPageToken":"x"}"#, &["gemini-a"]),
            (r#"{"models":[{"name":"qwen3:latest","model":"qwen3:latest","size":1}]}"#, &["qwen3:latest"]),
            (r#"[{"id":"a","aliases":["aa"]},{"id":"b"}]"#, &["a", "aa", "b"]),
        ] {
            assert_eq!(listing(body).names(), names, "{body}");
        }
        for body in ["", "data: {}", "{}", r#"{"data":[]}"#, r#"{"error":{"message":"no"}}"#, r#"{"data":"x"}"#] {
            assert!(parse(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn forms_that_a_provider_takes_are_known() {
        let has = |wire, names: &[&str], name| {
            let listing = Listing { names: names.iter().map(|name| (*name).to_owned()).collect(), takes_any: false };
            listing.has(wire, name)
        };
        assert!(has(Wire::OllamaChat, &["qwen3:latest"], "qwen3"));
        assert!(!has(Wire::OllamaChat, &["qwen3:latest"], "qwen3:4b"));
        assert!(has(Wire::GeminiGenerate, &["gemini-a"], "models/gemini-a"));
        assert!(has(Wire::OpenaiChat, &["maker/model"], "maker/model:floor"));
        assert!(has(Wire::OpenaiResponses, &["gpt-4o"], "GPT-4o"));
        assert!(!has(Wire::AnthropicMessages, &["claude-a-20250101"], "claude-a"));
    }

    #[test]
    fn a_server_that_answers_to_any_name_is_known_by_its_list() {
        assert!(listing(r#"{"data":[{"id":"/models/x.gguf","owned_by":"llamacpp"}]}"#).takes_any);
    }
}
