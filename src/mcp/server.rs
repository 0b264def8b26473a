//! The server: a client's requests to tools, resources and prompts, until the client is gone.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, serve_server_with_ct};
use rmcp::{RoleServer, ServerHandler};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::blocking::blocking;
use super::child::Children;
use super::place::Place;
use super::transport::Lines;
use super::{prompts, resources, tools};
use crate::config::Environment;
use crate::error::{Error, ExitCode, Result};

/// How long processes are waited for that end with this server: each stops its slots, which takes them some seconds.
const ENDING: Duration = Duration::from_secs(30);

/// How many threads wait for the disk at once.
const WAITING: usize = 32;

const INSTRUCTIONS: &str = "\
A blind panel: several models answer the same prompt, and judges vote without knowing who wrote which answer. Use it to \
compare models, to get a better answer than one model gives, or to have a text approved or rejected by several. Start with \
`team` `run` (returns at once) or `run-and-judge` (waits), look with `status`, read the verdict with `show`. `team_review` \
has a change reviewed, `team_fix` also repaired on a branch of its own; `team_respond` takes what the user decides about it. \
Names of models are told with the verdict; `reveal: true` tells them earlier and is recorded.";

/// Serves a client on standard input and output until it is gone, or a signal ends this process.
///
/// `sessions_dir` is the folder of sessions where the command line says.
///
/// # Errors
/// The runtime cannot be started, or signals cannot be heard.
pub fn serve(cwd: PathBuf, environment: Environment, sessions_dir: Option<PathBuf>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(WAITING)
        .enable_all()
        .build()
        .map_err(|error| Error::io("cannot start the runtime", error))?;
    let code = runtime.block_on(until_gone(Place { cwd, environment, sessions_dir }));
    // A thread may still wait for a line of a client that keeps its end open.
    runtime.shutdown_background();
    code
}

async fn until_gone(place: Place) -> Result<ExitCode> {
    let hear = |kind| signal(kind).map_err(|error| Error::io("cannot listen to signals", error));
    let mut signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .into_iter()
        .map(|kind| Ok((kind.as_raw_value(), hear(kind)?)))
        .collect::<Result<Vec<_>>>()?;
    let gone = CancellationToken::new();
    let end = CancellationToken::new();
    let children = Children::new(gone.clone());
    let server = Server { place: Arc::new(place), children: children.clone(), tools: tools::all() };
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout(), gone.clone());
    let client = async {
        // A client that never said what it wants has nothing to be told.
        if let Ok(service) = serve_server_with_ct(server, lines, end.clone()).await {
            service.waiting().await.ok();
        }
    };
    tokio::pin!(client);
    let mut any = futures::future::select_all(signals.iter_mut().map(|(number, signal)| {
        Box::pin(async move {
            signal.recv().await;
            *number
        })
    }));
    let code = tokio::select! {
        () = &mut client => ExitCode::DONE,
        (number, ..) = &mut any => {
            gone.cancel();
            end.cancel();
            client.await;
            ExitCode::signal(number)
        }
    };
    // One that takes longer ends by itself: nobody reads what it says any more.
    tokio::time::timeout(ENDING, children.end()).await.ok();
    Ok(code)
}

/// What a client talks to.
struct Server {
    place: Arc<Place>,
    children: Children,
    tools: Vec<Tool>,
}

/// Requests that every server of this protocol has.
const KNOWN: [&str; 8] = [
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "initialize",
];

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let name = Implementation::new("team", env!("CARGO_PKG_VERSION")).with_title("team: blind panels of models");
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = tools::call(&request.name, arguments, &self.place, &self.children, &context).await?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let place = Arc::clone(&self.place);
        let found = blocking(move || resources::list(&place)).await.map_err(internal)?;
        Ok(ListResourcesResult::with_all_items(found))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let place = Arc::clone(&self.place);
        let uri = request.uri;
        let found = blocking(move || resources::read(&place, &uri)).await;
        found.map(Into::into).map_err(|error| ErrorData::resource_not_found(error.chain(), None))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let found = prompts::get(&request.name, request.arguments.unwrap_or_default());
        found.map(Into::into).map_err(|error| ErrorData::invalid_params(error.chain(), None))
    }

    /// What has a known name and comes here has parameters that cannot be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if KNOWN.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(format!("the parameters of `{method}` are not of its form"), None));
        }
        Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, format!("there is no `{method}` here"), None))
    }
}

fn internal(error: Error) -> ErrorData {
    ErrorData::internal_error(error.chain(), None)
}
