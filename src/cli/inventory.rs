//! What can be asked here and now.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use tokio::net::TcpStream;

use crate::config::{AgentKind, Config, Environment, LOCAL_MODEL, Models, ProviderEntry};
use crate::slots::agents::{locate, version_of};

/// How long a program may take to say its version.
pub(super) const VERSION_LIMIT: Duration = Duration::from_secs(10);
/// How long a server on this machine may take to accept a connection.
const CONNECT_LIMIT: Duration = Duration::from_millis(500);

/// Whether the managed local model can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum LocalModel {
    /// It is on this machine.
    Ready,
    /// It is fetched when it is first asked.
    OnFirstUse,
    /// It cannot be had here.
    Unavailable {
        /// Why.
        reason: String,
    },
}

/// A program that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Agent {
    /// Its name.
    pub(super) name: String,
    /// How it is named, with its model.
    pub(super) form: String,
    /// Where it is, if it is installed.
    pub(super) program: Option<PathBuf>,
    /// What it says its version is.
    pub(super) version: Option<String>,
    /// Why it did not say.
    pub(super) problem: Option<String>,
}

/// An endpoint. Its key is never looked at, only whether there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Endpoint {
    /// The name before the `@`.
    pub(super) name: String,
    /// Where it is.
    pub(super) base_url: String,
    /// The variable that holds the key, where one is needed.
    pub(super) api_key_env: Option<String>,
    /// Whether that variable is set; `None` where no key is needed.
    pub(super) key_present: Option<bool>,
    /// Whether something listens there; only looked at on this machine.
    pub(super) listening: Option<bool>,
}

impl Endpoint {
    /// Whether a request could succeed, as far as that is known without one.
    pub(super) fn is_usable(&self) -> bool {
        self.key_present != Some(false) && self.listening != Some(false)
    }
}

/// A name of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Alias {
    /// The alias.
    pub(super) name: String,
    /// The name or the command that it stands for.
    pub(super) stands_for: String,
    /// Why it cannot be asked.
    pub(super) problem: Option<String>,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Inventory {
    version: u32,
    /// Agents that have a name of their own.
    pub(super) agents: Vec<Agent>,
    /// The managed local model; `None` where nobody looked.
    pub(super) local: Option<LocalModel>,
    /// Endpoints, ordered by name.
    pub(super) providers: Vec<Endpoint>,
    /// Aliases, ordered by name.
    pub(super) aliases: Vec<Alias>,
}

impl Inventory {
    /// What was found, for a test.
    #[cfg(test)]
    pub(super) fn of(agents: Vec<Agent>, providers: Vec<Endpoint>) -> Self {
        Self { version: 1, agents, local: None, providers, aliases: Vec::new() }
    }
}

/// Looks for everything at once.
pub(super) async fn take(config: &Config, environment: &Environment, local: Option<LocalModel>) -> Inventory {
    let agents = AgentKind::KNOWN.into_iter().map(|kind| known(kind, environment));
    let providers = config.settings().providers.iter().map(|(name, entry)| endpoint(name, entry, environment));
    let (agents, providers) = futures::join!(futures::future::join_all(agents), futures::future::join_all(providers));
    let models = Models::new(config, environment);
    let aliases = config.settings().models.iter().map(|(name, entry)| Alias {
        name: name.clone(),
        stands_for: match (&entry.command, &entry.uses) {
            (Some(command), _) => command.join(" "),
            (None, Some(uses)) => uses.clone(),
            (None, None) => name.clone(),
        },
        problem: models.resolve(name).err().map(|error| error.to_string()),
    });
    Inventory { version: 1, agents, local, providers, aliases: aliases.collect() }
}

async fn known(kind: AgentKind, environment: &Environment) -> Agent {
    let program = kind.program().unwrap_or_default();
    Agent { form: kind.form().to_owned(), ..agent(program, environment).await }
}

/// Looks for `program` and asks its version.
pub(super) async fn agent(program: &str, environment: &Environment) -> Agent {
    let found = locate(program, environment);
    let (version, problem) = match &found {
        None => (None, None),
        Some(path) => match version_of(path, environment, VERSION_LIMIT).await {
            Ok(version) => (Some(version), None),
            Err(error) => (None, Some(error.to_string())),
        },
    };
    Agent { name: program.to_owned(), form: program.to_owned(), program: found, version, problem }
}

/// Looks at an endpoint without asking it for anything.
pub(super) async fn endpoint(name: &str, entry: &ProviderEntry, environment: &Environment) -> Endpoint {
    let base_url = entry.base_url.clone().unwrap_or_default();
    let listening = match local_address(&base_url) {
        Some(address) => Some(listens(&address).await),
        None => None,
    };
    let key_present = entry.api_key_env.as_ref().map(|name| environment.text(name).is_some());
    Endpoint { name: name.to_owned(), base_url, api_key_env: entry.api_key_env.clone(), key_present, listening }
}

/// Whether something listens at `address`, which is on this machine.
pub(super) async fn listens(address: &str) -> bool {
    matches!(tokio::time::timeout(CONNECT_LIMIT, TcpStream::connect(address)).await, Ok(Ok(_)))
}

/// `host:port` of a URL on this machine.
pub(super) fn local_address(base_url: &str) -> Option<String> {
    let url = reqwest::Url::parse(base_url).ok()?;
    let host = url.host_str()?;
    let is_loopback = host == "localhost"
        || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback.then(|| format!("{host}:{}", url.port_or_known_default().unwrap_or(80)))
}

/// The full name of the managed local model.
pub(super) fn local_name() -> String {
    format!("local@{LOCAL_MODEL}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_connected_to() {
        for (url, address) in [
            ("http://127.0.0.1:8080/v1", Some("127.0.0.1:8080")),
            ("http://localhost/v1", Some("localhost:80")),
            ("http://[::1]:9/v1", Some("[::1]:9")),
            ("https://api.example.org/v1", None),
            ("http://127.0.0.1.example.org/v1", None),
            ("nonsense", None),
        ] {
            assert_eq!(local_address(url).as_deref(), address, "{url}");
        }
    }

    #[tokio::test]
    async fn an_endpoint_is_usable_with_its_key_and_its_server() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let entry =
            ProviderEntry { base_url: Some(url), api_key_env: Some("K".to_owned()), ..ProviderEntry::default() };
        let with: Environment = [("K", "secret")].into_iter().collect();
        let found = endpoint("p", &entry, &with).await;
        assert_eq!((found.key_present, found.listening, found.is_usable()), (Some(true), Some(true), true));
        assert!(!serde_json::to_string(&found).unwrap().contains("secret"));
        assert!(!endpoint("p", &entry, &Environment::default()).await.is_usable());
        drop(listener);
        assert_eq!(endpoint("p", &entry, &with).await.listening, Some(false));
    }
}
