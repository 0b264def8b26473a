//! A conversation over a wire that keeps none: what was said before is sent again.

use serde_json::{Value, json};

use super::Request;

/// Something that was asked before in the same conversation, and what came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The prompt.
    pub asked: String,
    /// The answer, whole.
    pub answered: String,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    ByUs,
    ByTheModel,
}

impl Said {
    /// The role's name in most formats.
    const fn role(self) -> &'static str {
        match self {
            Self::ByUs => "user",
            Self::ByTheModel => "assistant",
        }
    }
}

impl<'a> Request<'a> {
    /// What is said in the conversation, in order, the prompt last.
    pub(super) fn messages(&self) -> impl Iterator<Item = (Said, &'a str)> {
        let before = self.history.iter().flat_map(|exchange| {
            [(Said::ByUs, exchange.asked.as_str()), (Said::ByTheModel, exchange.answered.as_str())]
        });
        before.chain([(Said::ByUs, self.prompt)])
    }

    /// The same as messages of the form that most formats have.
    pub(super) fn plain_messages(&self) -> Vec<Value> {
        let message = |(said, text)| json!({"role": Said::role(said), "content": text});
        self.messages().map(message).collect()
    }

    /// Every text that the server has to read.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.settings.system.as_deref().into_iter().chain(self.messages().map(|(_, text)| text))
    }
}
