//! One question to a scripted server, and how to look at what came of it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::testing::{Call, Recorder, Server, soon};
use super::super::{Client, Exchange, JsonSchema, Request, RetryPolicy};
use crate::config::{ModelSettings, Provider, Wire};
use crate::session::slot::{Activity, Reason, StreamEnd};

pub(super) const HELLO: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße\"},\"finish_reason\":null}]}\n\n",
    ": a comment\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" 日本\\n\"},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3}}\n\n",
    "data: [DONE]\n\n",
);

pub(super) fn content(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

pub(super) fn finish(reason: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

/// One question, with what a test may vary.
pub(super) struct Question {
    pub(super) client: Client,
    pub(super) provider: Provider,
    pub(super) settings: ModelSettings,
    pub(super) history: Vec<Exchange>,
    pub(super) schema: Option<JsonSchema>,
    pub(super) retries: u32,
    pub(super) stop: CancellationToken,
}

impl Question {
    pub(super) fn to(base_url: String) -> Self {
        let quick = RetryPolicy { first: Duration::ZERO, ceiling: Duration::ZERO, ..RetryPolicy::default() };
        Self {
            client: Client::with_retry_policy(quick),
            provider: Provider {
                name: "scripted".to_owned(),
                wire: Wire::OpenaiChat,
                base_url,
                api_key_env: None,
                headers: Default::default(),
                max_concurrent: None,
                json_schema: true,
            },
            settings: ModelSettings::default(),
            history: Vec::new(),
            schema: None,
            retries: 2,
            stop: CancellationToken::new(),
        }
    }

    pub(super) async fn ask_into(&self, out: &mut Recorder) -> std::io::Result<StreamEnd> {
        let request = Request {
            provider: &self.provider,
            key: Some("sk-secret\n"),
            model: "m-1",
            settings: &self.settings,
            history: &self.history,
            prompt: "What?",
            schema: self.schema.as_ref(),
            retries: self.retries,
        };
        soon(self.client.ask(&request, out, &self.stop)).await
    }

    pub(super) async fn ask(&self) -> (Recorder, StreamEnd) {
        let mut out = Recorder::default();
        let end = self.ask_into(&mut out).await.unwrap();
        (out, end)
    }
}

/// Asks a server that answers each call by the next of `answers`; gives back what came and the requests' bodies.
pub(super) async fn scripted<F: Future<Output = ()>>(
    question: &mut Question,
    server: &Server,
    answers: Vec<Box<dyn FnOnce(Call) -> F>>,
) -> (Recorder, StreamEnd, Vec<Value>) {
    let serve = async {
        let mut bodies = Vec::new();
        for answer in answers {
            let call = server.call().await;
            bodies.push(call.body.clone());
            answer(call).await;
        }
        bodies
    };
    let ((out, end), bodies) = tokio::join!(question.ask(), serve);
    assert!(!server.has_call().await, "one more request came than the test answers");
    (out, end, bodies)
}

pub(super) async fn one_answer<F: Future<Output = ()>>(
    answer: impl FnOnce(Call) -> F + 'static,
) -> (Recorder, StreamEnd) {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    let (out, end, _) = scripted(&mut question, &server, vec![Box::new(answer)]).await;
    (out, end)
}

pub(super) fn reason(end: &StreamEnd) -> Option<Reason> {
    end.error.as_ref().map(|error| error.reason)
}

pub(super) fn detail(end: &StreamEnd) -> &str {
    end.error.as_ref().map_or("", |error| &error.detail)
}

pub(super) fn retries(out: &Recorder) -> usize {
    out.activities.iter().filter(|activity| matches!(activity, Activity::Retry { .. })).count()
}
