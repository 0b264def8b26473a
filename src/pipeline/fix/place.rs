//! Where things of a fix lie in its session: `repository/`, `worktree/`, `checks/`, and what is kept in `fixes/N/`.

use std::path::{Path, PathBuf};

use crate::session::{InnerKind, InnerPanel, Layout};

/// The folders of a fix.
#[derive(Debug, Clone)]
pub(super) struct Place(Layout);

impl Place {
    pub(super) const fn new(session: Layout) -> Self {
        Self(session)
    }

    /// The repository of the fix.
    pub(super) fn repository(&self) -> PathBuf {
        self.0.root().join(Layout::REPOSITORY)
    }

    /// Where the fixer works. The same in every round: programs know their conversations by it.
    pub(super) fn worktree(&self) -> PathBuf {
        self.0.root().join(Layout::WORKTREE)
    }

    /// Where results are checked.
    pub(super) fn checks(&self) -> PathBuf {
        self.0.root().join(Layout::CHECKS)
    }

    /// The panel of a round of repairs.
    pub(super) const fn panel(round: u32) -> InnerPanel {
        InnerPanel { kind: InnerKind::Fix, number: round }
    }

    /// The panel of a review.
    pub(super) const fn review(number: u32) -> InnerPanel {
        InnerPanel { kind: InnerKind::ImplReview, number }
    }

    /// What attempts of the rounds up to this one left that did not come to their end, from the session's folder.
    pub(super) fn kept(&self, rounds: u32) -> Vec<String> {
        let of_round = |round: u32| {
            let panel = Self::panel(round);
            let folder = self.0.inner(panel);
            let numbers = (1..).take_while(move |number| exists(&folder.root().join(format!("left-{number}"))));
            numbers.map(move |number: u32| format!("{}/left-{number}", panel.folder()))
        };
        (1..=rounds).flat_map(of_round).collect()
    }

    /// A new place for what an attempt left that did not come to its end.
    pub(super) fn left(&self, round: u32) -> PathBuf {
        let folder = self.0.inner(Self::panel(round));
        let name = |number: u32| folder.root().join(format!("left-{number}"));
        (1..).map(name).find(|path| !exists(path)).unwrap_or_else(|| name(u32::MAX))
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
