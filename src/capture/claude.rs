//! `claude --output-format stream-json`.
//!
//! Each `assistant` frame holds whole content blocks; `stream_event` deltas repeat them and are dropped. `result` ends a
//! turn and repeats the last text, so its text counts only when no other came. Error sentences come as messages of a
//! synthetic model and again in `result`: they are kept once, as the error, never as text.

use std::collections::BTreeMap;
use std::io;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::frame::{Content, Loose, Text, Typed, frame_of};
use super::progress::Progress;
use super::prose::{Block, Prose};
use super::provider_words::{typed_error, why};
use crate::money::Usd;
use crate::session::slot::{Activity, Output, Reason, StopReason, TypedError, Usage};

/// What every frame is read as; the frequent ones need no more, and a small struct is moved quickly.
#[derive(Debug, Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    session_id: Loose<'a>,
    #[serde(default)]
    parent_tool_use_id: Option<IgnoredAny>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    error: Loose<'a>,
    #[serde(borrow, default)]
    is_api_error_message: Loose<'a>,
}

/// The provider's words about an error; read a second time, only from frames that are one.
#[derive(Debug, Default, Deserialize)]
struct ApiError<'a> {
    #[serde(borrow, default)]
    api_error_status: Loose<'a>,
    #[serde(borrow, default)]
    api_error_type: Loose<'a>,
}

/// A `system` frame.
#[derive(Debug, Deserialize)]
struct System<'a> {
    #[serde(borrow, default)]
    subtype: Loose<'a>,
    #[serde(borrow, default)]
    error: Loose<'a>,
    #[serde(borrow, default)]
    error_status: Loose<'a>,
    #[serde(borrow, default)]
    attempt: Loose<'a>,
    #[serde(borrow, default)]
    max_retries: Loose<'a>,
    #[serde(borrow, default)]
    retry_delay_ms: Loose<'a>,
}

/// A `control_request` frame.
#[derive(Debug, Deserialize)]
struct Control<'a> {
    #[serde(borrow)]
    request: Request<'a>,
}

/// A `result` frame.
#[derive(Debug, Deserialize)]
struct Ended<'a> {
    #[serde(borrow, default)]
    subtype: Loose<'a>,
    #[serde(borrow, default)]
    is_error: Loose<'a>,
    #[serde(borrow, default)]
    result: Option<Text<'a>>,
    #[serde(borrow, default)]
    errors: Option<Vec<Loose<'a>>>,
    #[serde(borrow, default)]
    api_error_status: Loose<'a>,
    #[serde(borrow, default)]
    api_error_type: Loose<'a>,
    #[serde(borrow, default)]
    stop_reason: Loose<'a>,
    #[serde(borrow, default)]
    total_cost_usd: Loose<'a>,
    #[serde(borrow, default)]
    usage: Option<Tokens<'a>>,
    #[serde(borrow, default, rename = "modelUsage")]
    model_usage: Option<BTreeMap<Text<'a>, ModelTokens<'a>>>,
    #[serde(borrow, default)]
    permission_denials: Option<Vec<Request<'a>>>,
    #[serde(borrow, default)]
    subagent_stats: Option<Subagents<'a>>,
    #[serde(borrow, default)]
    queued_turn_count: Loose<'a>,
    #[serde(borrow, default)]
    num_turns: Loose<'a>,
}

impl Typed for Frame<'_> {
    fn has_type(&self) -> bool {
        self.kind.is_some()
    }
}

#[derive(Debug, Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    model: Loose<'a>,
    #[serde(borrow, default)]
    stop_reason: Loose<'a>,
}

/// A tool that was asked for, or refused.
#[derive(Debug, Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    subtype: Loose<'a>,
    #[serde(borrow, default)]
    tool_name: Loose<'a>,
}

#[derive(Debug, Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cache_creation_input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cache_read_input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    output_tokens: Loose<'a>,
    #[serde(borrow, default)]
    output_tokens_details: Option<TokenDetails<'a>>,
}

#[derive(Debug, Deserialize)]
struct TokenDetails<'a> {
    #[serde(borrow, default)]
    thinking_tokens: Loose<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelTokens<'a> {
    #[serde(borrow, default)]
    input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cache_creation_input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cache_read_input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    output_tokens: Loose<'a>,
    #[serde(borrow, default)]
    thinking_tokens: Loose<'a>,
}

#[derive(Debug, Deserialize)]
struct Subagents<'a> {
    #[serde(borrow, default)]
    killed: Option<Killed<'a>>,
}

#[derive(Debug, Deserialize)]
struct Killed<'a> {
    #[serde(borrow, default)]
    system: Loose<'a>,
}

/// The input of a question to a person; read a second time, only where one is asked.
#[derive(Debug, Deserialize)]
struct Asking<'a> {
    #[serde(borrow)]
    message: AskingMessage<'a>,
}

#[derive(Debug, Deserialize)]
struct AskingMessage<'a> {
    #[serde(borrow)]
    content: Vec<AskingBlock<'a>>,
}

#[derive(Debug, Deserialize)]
struct AskingBlock<'a> {
    #[serde(borrow, default)]
    input: Option<Questions<'a>>,
}

#[derive(Debug, Deserialize)]
struct Questions<'a> {
    #[serde(borrow, default)]
    questions: Vec<Question<'a>>,
}

#[derive(Debug, Deserialize)]
struct Question<'a> {
    #[serde(borrow, default)]
    question: Loose<'a>,
}

/// Tools by which the agent asks a person.
const ASKING: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Claude {
    pub(super) progress: Progress,
    blocks: u64,
    /// Text of the top level came in this turn.
    text_in_turn: bool,
    /// A tool was used and no text has come after it.
    open_tool: bool,
    /// The agent itself spoke in this turn in place of a model.
    synthetic: bool,
    /// A question that was asked, while no text has come after it.
    question: Option<String>,
    message_stop: Option<StopReason>,
}

impl Claude {
    /// Takes one line; `false` when it is no frame.
    pub(super) fn line(&mut self, line: &[u8], prose: &mut Prose, out: &mut dyn Output) -> io::Result<bool> {
        let frame: Frame<'_> = match frame_of(line, &["assistant", "result"], &mut self.progress) {
            Ok(frame) => frame,
            Err(is_frame) => return Ok(is_frame),
        };
        self.progress.conversation(frame.session_id.str());
        match frame.kind.as_ref().map(Text::raw) {
            Some(b"assistant") if frame.parent_tool_use_id.is_none() => self.message(&frame, line, prose, out)?,
            Some(b"result") => match serde_json::from_slice::<Ended<'_>>(line) {
                Ok(ended) => self.result(&ended, prose, out)?,
                Err(_) => self.progress.unreadable("result"),
            },
            Some(b"system") => {
                if let Ok(system) = serde_json::from_slice::<System<'_>>(line) {
                    self.system(&system, out);
                }
            }
            Some(b"user") => self.progress.waiting_for = None,
            Some(b"control_request") => {
                let asked = serde_json::from_slice::<Control<'_>>(line).ok().map(|control| control.request);
                if let Some(request) = asked.filter(|request| request.subtype.str() == Some("can_use_tool")) {
                    let tool = request.tool_name.str().unwrap_or("a tool");
                    self.progress.waiting_for = Some(format!("waits for the permission to use `{tool}`"));
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn system(&mut self, frame: &System<'_>, out: &mut dyn Output) {
        match frame.subtype.str() {
            Some("init") => {
                self.progress.taken_up = true;
                self.progress.go_on();
                self.progress.show(Activity::Waiting, out);
            }
            Some("api_retry") => {
                let why = why(frame.error_status.status(), frame.error.str().unwrap_or_default(), "");
                let number = |field: &Loose<'_>| u32::try_from(field.count().unwrap_or(0)).unwrap_or(u32::MAX);
                let retry = Activity::Retry {
                    attempt: number(&frame.attempt),
                    of: number(&frame.max_retries),
                    in_seconds: frame.retry_delay_ms.count().unwrap_or(0).div_ceil(1000),
                    why,
                };
                self.progress.show(retry, out);
            }
            _ => {}
        }
    }

    fn message(&mut self, frame: &Frame<'_>, line: &[u8], prose: &mut Prose, out: &mut dyn Output) -> io::Result<()> {
        let Some(message) = &frame.message else { return Ok(()) };
        let failed = frame.is_api_error_message.is_true() || frame.error.str().is_some();
        if failed || message.model.str() == Some("<synthetic>") {
            if failed {
                let words = message.content.as_ref().map(words_of).unwrap_or_default();
                let api = serde_json::from_slice::<ApiError<'_>>(line).unwrap_or_default();
                let kind = api.api_error_type.str().or(frame.error.str()).unwrap_or_default();
                self.progress.error = Some(typed_error(api.api_error_status.status(), kind, &words));
            }
            self.synthetic = true;
            return Ok(());
        }
        self.progress.go_on();
        self.progress.waiting_for = None;
        self.message_stop = message.stop_reason.str().map(stop_reason);
        match &message.content {
            Some(Content::Whole(text)) => self.text(text, prose, out)?,
            Some(Content::Blocks(blocks)) => {
                for block in blocks {
                    match (block.kind.as_ref().map(Text::raw), &block.text) {
                        (Some(b"text"), Some(text)) => self.text(text, prose, out)?,
                        (Some(b"thinking" | b"redacted_thinking"), _) => self.progress.show(Activity::Thinking, out),
                        (Some(b"tool_use" | b"server_tool_use"), _) => {
                            self.tool(block.name.str().unwrap_or("tool"), line, out);
                        }
                        _ => {}
                    }
                }
            }
            None => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &Text<'_>, prose: &mut Prose, out: &mut dyn Output) -> io::Result<()> {
        let text = text.as_str();
        if text.trim().is_empty() {
            return Ok(());
        }
        self.text_in_turn = true;
        self.open_tool = false;
        self.question = None;
        self.blocks += 1;
        self.progress.show(Activity::Answering, out);
        prose.put(Block::Model(self.blocks), text.as_bytes(), out)
    }

    fn tool(&mut self, name: &str, line: &[u8], out: &mut dyn Output) {
        if ASKING.contains(&name) {
            let asked = serde_json::from_slice::<Asking<'_>>(line).ok();
            let blocks = asked.iter().flat_map(|asking| &asking.message.content);
            let questions = blocks.filter_map(|block| block.input.as_ref()).flat_map(|input| &input.questions);
            let words = questions.filter_map(|question| question.question.str()).collect::<Vec<_>>().join(" ");
            self.question = Some(if words.is_empty() { format!("asked with `{name}`") } else { words });
        }
        self.open_tool = true;
        self.progress.show(Activity::Tool(name.to_owned()), out);
    }

    fn result(&mut self, frame: &Ended<'_>, prose: &mut Prose, out: &mut dyn Output) -> io::Result<()> {
        self.progress.waiting_for = None;
        let subtype = frame.subtype.str().unwrap_or_default();
        let failed = frame.is_error.is_true() || subtype.starts_with("error");
        let said = frame.result.as_ref().map(Text::as_str).unwrap_or_default();
        // Without a turn nobody was asked: the prompt was taken as a command of the agent (`/help`), and what it says is
        // its own.
        let not_asked = !failed && !self.text_in_turn && frame.num_turns.count() == Some(0);
        let own_words = std::mem::take(&mut self.synthetic) || not_asked;
        if !failed && !self.text_in_turn && !own_words && !said.trim().is_empty() {
            self.blocks += 1;
            self.open_tool = false;
            self.question = None;
            prose.put(Block::Model(self.blocks), said.as_bytes(), out)?;
        }
        let killed = frame.subagent_stats.as_ref().and_then(|s| s.killed.as_ref()).and_then(|k| k.system.count());
        let denials = frame.permission_denials.as_deref().unwrap_or_default();
        let denied = denials.iter().rev().find_map(|denial| denial.tool_name.str());
        let (question, open_tool) = (self.question.take(), std::mem::take(&mut self.open_tool));
        let error = if failed {
            Some(self.failure(frame, subtype, &said))
        } else if not_asked {
            Some(TypedError::new(Reason::PromptNotRead, not_sent(&said)))
        } else if let Some(question) = question {
            Some(TypedError::new(Reason::Blocked, question))
        } else if let Some(tool) = denied.filter(|_| open_tool) {
            Some(TypedError::new(Reason::Blocked, format!("was denied the permission to use `{tool}`")))
        } else if killed.is_some_and(|n| n > 0) {
            Some(TypedError::new(Reason::BackgroundTaskCeiling, "ended while its background tasks were running"))
        } else {
            None
        };
        let stop = frame.stop_reason.str().map(stop_reason).or(self.message_stop).unwrap_or(StopReason::Done);
        self.progress.end(Some(stop), error);
        if frame.queued_turn_count.count().is_some_and(|turns| turns > 0) {
            // The agent itself says that another turn follows.
            self.progress.complete = false;
        }
        self.text_in_turn = false;
        self.message_stop = None;
        // A call that failed before anything was counted reports zeros; they mean unknown.
        self.progress.usage = usage_of(frame).filter(|usage| !failed || spent(usage)).or(self.progress.usage);
        // A model whose price the program does not know is reported with 0, which means unknown.
        let cost = frame.total_cost_usd.amount().filter(|cost| *cost > 0.0);
        self.progress.cost = cost.and_then(Usd::reported).or(self.progress.cost);
        Ok(())
    }

    fn failure(&mut self, frame: &Ended<'_>, subtype: &str, said: &str) -> TypedError {
        match subtype {
            "error_max_turns" => return TypedError::new(Reason::Truncated, "stopped at its limit of turns"),
            "error_max_budget_usd" => return TypedError::new(Reason::Budget, "stopped at its own budget"),
            _ => {}
        }
        let listed = || {
            let errors = frame.errors.as_deref().unwrap_or_default();
            errors.iter().filter_map(Loose::str).collect::<Vec<_>>().join("; ")
        };
        let words = if said.trim().is_empty() { listed() } else { said.to_owned() };
        let kind = frame.api_error_type.str().unwrap_or_default();
        let typed = typed_error(frame.api_error_status.status(), kind, &words);
        match self.progress.error.take() {
            // The synthetic message before it may know more; older versions leave the status out here.
            Some(earlier) if typed.reason == Reason::ApiError => earlier,
            _ if typed.detail.is_empty() => TypedError::new(typed.reason, subtype),
            _ => typed,
        }
    }
}

/// What the agent said in place of asking a model.
fn not_sent(said: &str) -> String {
    match said.trim() {
        "" => "the prompt was not sent to the model".to_owned(),
        said => format!("the prompt was not sent to the model; the program said: {said}"),
    }
}

fn words_of(content: &Content<'_>) -> String {
    match content {
        Content::Whole(text) => text.as_str().into_owned(),
        Content::Blocks(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block.text.as_ref()).map(Text::as_str).collect();
            texts.join("\n")
        }
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        _ => StopReason::Done,
    }
}

/// Tokens of all models that worked, as the cost is counted; older versions report only the main one.
fn usage_of(frame: &Ended<'_>) -> Option<Usage> {
    if let Some(models) = frame.model_usage.as_ref().filter(|models| !models.is_empty()) {
        let sum = |field: fn(&ModelTokens<'_>) -> Option<u64>| add(models.values().map(field));
        return Some(Usage {
            input_tokens: add([
                sum(|m| m.input_tokens.count()),
                sum(|m| m.cache_creation_input_tokens.count()),
                sum(|m| m.cache_read_input_tokens.count()),
            ]),
            cached_input_tokens: sum(|m| m.cache_read_input_tokens.count()),
            output_tokens: sum(|m| m.output_tokens.count()),
            reasoning_tokens: sum(|m| m.thinking_tokens.count()),
        });
    }
    let tokens = frame.usage.as_ref()?;
    Some(Usage {
        input_tokens: add([
            tokens.input_tokens.count(),
            tokens.cache_creation_input_tokens.count(),
            tokens.cache_read_input_tokens.count(),
        ]),
        cached_input_tokens: tokens.cache_read_input_tokens.count(),
        output_tokens: tokens.output_tokens.count(),
        reasoning_tokens: tokens.output_tokens_details.as_ref().and_then(|d| d.thinking_tokens.count()),
    })
}

/// The sum of what is known; unknown when nothing is.
fn add(counts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

fn spent(usage: &Usage) -> bool {
    [usage.input_tokens, usage.output_tokens].into_iter().flatten().any(|n| n > 0)
}
