//! The local model's server: started on first need, gone with the run.

use std::fmt;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::LocalError;
use super::install::LocalModel;
use super::step::{Environment, end, last_lines, tail, text};
use crate::config::{LOCAL_CONTEXT_TOKENS as CONTEXT_TOKENS, LOCAL_MODEL as MODEL_ID, Provider, Wire};

/// How many requests at once serve a panel best: each takes 190 MB for its context, and a second one already keeps
/// the processor busy (measured: 110 to 140 tokens a second alone, 160 in all with many).
pub const PARALLEL: usize = 2;

const SCRIPT: &str = include_str!("server.py");
/// A busy machine takes its time; a server that ends is noticed at once.
const READY_LIMIT: Duration = Duration::from_secs(60);
/// Memory grows with it; more wait for their turn.
const MOST_PARALLEL: usize = 16;
/// Threads wait for each other in a loop at every step, so that one which gets no core stalls all of them: on two cores
/// with other work, two threads make 5 tokens a second and one makes 25. Half of the cores is left to the others.
const MOST_THREADS: usize = 16;

/// A running server. Shared behind an `Arc`; dropped, or when `team` dies in any way, it ends.
pub struct LocalServer {
    provider: Provider,
    key: String,
    process: Mutex<Option<Running>>,
}

struct Running {
    child: Child,
    /// Its end is the server's end.
    _owner: ChildStdin,
}

impl fmt::Debug for LocalServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalServer").field("base_url", &self.provider.base_url).finish_non_exhaustive()
    }
}

impl LocalServer {
    /// Starts a server that answers up to `parallel` requests at once (1 to 16, [`PARALLEL`] by
    /// default; others wait for their turn) and waits until it does.
    pub async fn start(model: &LocalModel, parallel: usize, stop: &CancellationToken) -> Result<Self, LocalError> {
        Self::start_within(model, parallel, READY_LIMIT, stop).await
    }

    pub(super) async fn start_within(
        model: &LocalModel,
        parallel: usize,
        limit: Duration,
        stop: &CancellationToken,
    ) -> Result<Self, LocalError> {
        let parallel = parallel.clamp(1, MOST_PARALLEL);
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let threads = (cores / 2).clamp(1, MOST_THREADS);
        let key = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
        // The key goes through a pipe: arguments and environment of a process can be read by others.
        let settings = json!({
            "model": model.model, "name": MODEL_ID, "key": key,
            "context": CONTEXT_TOKENS, "parallel": parallel, "threads": threads,
        });
        let mut command = Environment::Plain.command(model.python.as_os_str());
        let mut child = command.args(["-I", "-c", SCRIPT]).stdin(Stdio::piped()).spawn()?;
        let (Some(mut owner), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the server's pipes are missing").into());
        };
        let stderr = tail(child.stderr.take());
        let mut lines = BufReader::new(stdout).lines();
        let ready = async {
            // A server that ended already does not read this; how it ended is told below.
            owner.write_all(format!("{settings}\n").as_bytes()).await.ok();
            address(&mut lines).await
        };
        let found = tokio::select! {
            biased;
            () = stop.cancelled() => Err(LocalError::Stopped),
            found = ready => Ok(found),
            () = tokio::time::sleep(limit) => {
                Err(LocalError::TooSlow { step: "starting the local model's server", seconds: limit.as_secs() })
            }
        };
        let address = match found {
            Ok(Some(address)) => address,
            Ok(None) => {
                let status = tokio::time::timeout(Duration::from_secs(2), child.wait()).await;
                let status = status.ok().and_then(Result::ok).map_or("still running".to_owned(), |s| s.to_string());
                end(&mut child).await;
                return Err(LocalError::ServerEnded { status, detail: last_lines(&text(stderr).await) });
            }
            Err(error) => {
                end(&mut child).await;
                return Err(error);
            }
        };
        // Nothing more is expected; a full pipe would stop it all the same.
        drop(tail(Some(lines.into_inner())));
        let provider = Provider {
            name: "local".to_owned(),
            wire: Wire::OpenaiChat,
            base_url: format!("{}/v1", address.trim_end_matches('/')),
            api_key_env: None,
            headers: Default::default(),
            max_concurrent: Some(parallel),
            json_schema: true,
        };
        Ok(Self { provider, key, process: Mutex::new(Some(Running { child, _owner: owner })) })
    }

    /// How to ask it.
    #[must_use]
    pub const fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The key that it wants; it is good for this server only, and never written anywhere.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Ends it and waits until it is gone; once is enough.
    pub async fn stop(&self) {
        if let Some(mut running) = self.process.lock().await.take() {
            end(&mut running.child).await;
        }
    }

    #[cfg(test)]
    pub(super) async fn process_id(&self) -> Option<u32> {
        self.process.lock().await.as_ref().and_then(|running| running.child.id())
    }
}

/// The address in the line that says so; `None` when the output ends first.
async fn address(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<String> {
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(address) = line.strip_prefix("READY ") {
            return Some(address.trim().to_owned());
        }
    }
    None
}
