//! Whether `HEAD` is still what a gate looks at, as long as it is at work.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use crate::config::GateKind;
use crate::engine::LastLook;
use crate::git::{CommitId, Git};

/// Where `HEAD` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// Where it was.
    Same,
    /// Somewhere else.
    Moved(Option<CommitId>),
}

/// Watches `HEAD`: once it was seen elsewhere, what is said of it does not change.
#[derive(Debug)]
pub struct HeadWatch {
    git: Git,
    kind: GateKind,
    expected: CommitId,
    moved: Mutex<Option<Head>>,
}

impl HeadWatch {
    /// Watches that it stays at `expected`.
    #[must_use]
    pub const fn new(git: Git, kind: GateKind, expected: CommitId) -> Self {
        Self { git, kind, expected, moved: Mutex::new(None) }
    }

    /// Where it is. Where git does not say, the votes are not known to be about what is there.
    pub async fn now(&self) -> Head {
        let now = self.git.commit("HEAD").await.ok().flatten();
        let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        if moved.is_none() && now.as_ref() != Some(&self.expected) {
            *moved = Some(Head::Moved(now));
        }
        moved.clone().unwrap_or(Head::Same)
    }
}

impl LastLook for HeadWatch {
    fn look(&self) -> Pin<Box<dyn Future<Output = Option<String>> + Send + '_>> {
        Box::pin(async {
            match self.now().await {
                Head::Same => None,
                Head::Moved(now) => Some(stale(now.as_ref(), self.kind)),
            }
        })
    }
}

/// What to say when it is at `now`, and not where it was.
pub(super) fn stale(now: Option<&CommitId>, kind: GateKind) -> String {
    let now = now.map_or_else(|| "nothing".to_owned(), |commit| format!("`{}`", commit.short()));
    let what = match kind {
        GateKind::Vote => "the votes are",
        GateKind::Review => "the review is",
    };
    format!("stale: `HEAD` is {now} now, and {what} about another commit")
}
