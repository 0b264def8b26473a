//! Named places at which a test build can be made to die, as by `kill -9`, so that what is left behind can be resumed.
//!
//! `TEAM_FAULT_POINT=NAME` kills this process when it comes to that place, `NAME:N` when it comes there for the N-th
//! time. Only a build with the feature `test-fakes` looks; in any other nothing of this is left.

/// The places, in the order in which a run and its votes come to them.
macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)+) => {
        /// A place at which a run can end without warning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Point {
            $($(#[$doc])* $point,)+
        }

        impl Point {
            /// Every place, in order.
            pub const ALL: &'static [Self] = &[$(Self::$point),+];

            /// Its name in `TEAM_FAULT_POINT`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$point => $name,)+
                }
            }
        }
    };
}

points! {
    /// A whole file is written under its temporary name, not yet renamed.
    FileWritten = "file-written",
    /// A result that is copied to a flat name is written under its temporary one.
    CopyWritten = "copy-written",
    /// The session's folder was made, nothing is in it.
    SessionFolder = "session-folder",
    /// The session's lock was taken.
    SessionLocked = "session-locked",
    /// The prompt of a panel is in its folder.
    PanelInput = "panel-input",
    /// The manifest of a panel is in its folder.
    PanelManifest = "panel-manifest",
    /// The record of a panel is there and empty.
    PanelRecord = "panel-record",
    /// The first line of a panel's record is durable.
    PanelRecorded = "panel-recorded",
    /// The folder of a panel is filled.
    PanelFilled = "panel-filled",
    /// The session is one that commands find.
    SessionMade = "session-made",
    /// The snapshot of the workspace is copied, under its hidden name.
    WorkspaceCopied = "workspace-copied",
    /// The snapshot of the workspace has its name; nothing else knows.
    WorkspaceNamed = "workspace-named",
    /// The snapshot of the workspace is on record.
    WorkspaceRecorded = "workspace-recorded",
    /// The start of a slot is on record; nobody was asked yet.
    SlotStarted = "slot-started",
    /// A complete answer is written, not durable.
    AnswerWritten = "answer-written",
    /// A complete answer is durable under its hidden name.
    AnswerSynced = "answer-synced",
    /// A complete answer has its name; nothing else knows.
    AnswerNamed = "answer-named",
    /// The commit that a fix begins at is in its repository; nothing else knows.
    FixTipMade = "fix-tip-made",
    /// The begin of a fix is on record.
    FixBegun = "fix-begun",
    /// A review of a fix is on record as done.
    FixReviewed = "fix-reviewed",
    /// The folder of a fixer is filled; it was not asked yet.
    FixFolder = "fix-folder",
    /// A fixer's turn is over; nothing was looked at.
    FixTurnOver = "fix-turn-over",
    /// The end of an attempt is on record.
    FixAttempted = "fix-attempted",
    /// The commit of a repair is the newest in the repository of the fix; nothing else knows.
    FixAdvanced = "fix-advanced",
    /// The commit of a repair is on record.
    FixCommitted = "fix-committed",
    /// It is on record why a fix ended.
    FixStopped = "fix-stopped",
    /// The user's repository has the branch; nothing else knows.
    FixBranchMade = "fix-branch-made",
    /// The branch is on record.
    FixPublished = "fix-published",
    /// The end of a slot was heard of, nothing is recorded.
    SlotEndHeard = "slot-end-heard",
    /// The end of a slot is recorded, not durable.
    SlotEndRecorded = "slot-end-recorded",
    /// The end of a slot is durable and in the status.
    SlotEndSettled = "slot-end-settled",
    /// Every slot of a panel has ended.
    PanelDone = "panel-done",
    /// The folder of a round was made.
    RoundFolder = "round-folder",
    /// The round is on the session's record.
    RoundRecorded = "round-recorded",
    /// The prompt of a judge is written.
    PromptWritten = "prompt-written",
    /// The prompt of a judge is on record.
    PromptRecorded = "prompt-recorded",
    /// The prompt of a turn is said in its conversation; nobody was asked.
    TurnAsked = "turn-asked",
    /// What the next turn of a conversation needs is kept; the answer of this one has no name yet.
    TurnKept = "turn-kept",
    /// The answer of a turn is said in its conversation; what the turn before left is still there.
    TurnHeard = "turn-heard",
    /// A ballot is on record.
    BallotRecorded = "ballot-recorded",
    /// A file of ballots from elsewhere is kept in the round's folder.
    ImportKept = "import-kept",
    /// What a judge from elsewhere said is kept.
    ImportReply = "import-reply",
    /// The folder of a further turn was made.
    TurnFolder = "turn-folder",
    /// The turn is on the record of the folder that it is in.
    TurnRecorded = "turn-recorded",
    /// The turn's own record is closed.
    TurnClosed = "turn-closed",
    /// The close of the turn is on the record of the folder that it is in.
    TurnTied = "turn-tied",
    /// The folder of a panel of a pipeline was made.
    InnerFolder = "inner-folder",
    /// The panel is on the session's record.
    InnerRecorded = "inner-recorded",
    /// The findings are in the ledger, and not on the session's record.
    LedgerWritten = "ledger-written",
    /// How far the ledger is, is on the session's record.
    LedgerRecorded = "ledger-recorded",
    /// The ballots are in `votes.json`.
    VotesWritten = "votes-written",
    /// The round has `verdict.json`.
    VerdictJson = "verdict-json",
    /// The round has `verdict.md`.
    VerdictText = "verdict-text",
    /// The verdict is on the round's record.
    VerdictRecorded = "verdict-recorded",
    /// What a review came to is written, and not on record.
    ConsolidatedWritten = "consolidated-written",
    /// What a review came to is on its panel's record.
    ConsolidatedRecorded = "consolidated-recorded",
    /// The panel's own record is closed.
    InnerClosed = "inner-closed",
    /// The close of the panel is on the session's record.
    InnerTied = "inner-tied",
    /// The round's own record is closed.
    RoundClosed = "round-closed",
    /// The close of the round is on the session's record.
    RoundTied = "round-tied",
    /// `verdict.json` is at the session's top.
    VerdictJsonCopied = "verdict-json-copied",
    /// `verdict.md` is at the session's top.
    VerdictTextCopied = "verdict-text-copied",
    /// The verdict is on the session's record.
    SessionVerdict = "session-verdict",
    /// The close of the session begins.
    CloseBegun = "close-begun",
    /// The closing event is on a record.
    CloseRecorded = "close-recorded",
    /// The closing event is durable.
    CloseSettled = "close-settled",
    /// The closed status is published.
    CloseStatus = "close-status",
    /// The session is closed.
    SessionClosed = "session-closed",
    /// It is on record that the owner before died.
    InterruptRecorded = "interrupt-recorded",
    /// The end of a slot that ran when the owner before died is on record.
    LostRecorded = "lost-recorded",
    /// It is on record that the session goes on.
    ReopenRecorded = "reopen-recorded",
}

/// Dies here if the environment says so.
#[cfg(not(feature = "test-fakes"))]
#[inline(always)]
pub const fn reach(_: Point) {}

/// Dies here if the environment says so.
#[cfg(feature = "test-fakes")]
pub fn reach(point: Point) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static REACHED: AtomicU64 = AtomicU64::new(0);
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("TEAM_FAULT_POINT").ok()?;
        Some(match text.split_once(':') {
            Some((name, time)) => (name.to_owned(), time.parse().unwrap_or(1)),
            None => (text, 1),
        })
    });
    let Some((name, time)) = wanted else { return };
    if name == point.as_str() && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == *time {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).ok();
        // The signal may take a moment; nothing may happen in it.
        loop {
            std::thread::park();
        }
    }
}
