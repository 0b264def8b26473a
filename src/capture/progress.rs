//! What every stream format keeps track of besides text.

use crate::money::Usd;
use crate::session::slot::{Activity, Output, Reason, Spent, StopReason, StreamEnd, TypedError, Usage};

/// The facts of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The program's name of the conversation.
    pub(super) conversation: Option<String>,
    /// Whether the program said that it works in it.
    pub(super) taken_up: bool,
    /// What it reported at the end of the conversation's earlier turns, where it counts them in.
    pub(super) before: Spent,
    /// The error that stands now; a later success clears it.
    pub(super) error: Option<TypedError>,
    /// Why the model stopped, once the terminal event came.
    pub(super) stop: Option<StopReason>,
    /// Tokens.
    pub(super) usage: Option<Usage>,
    /// Dollars.
    pub(super) cost: Option<Usd>,
    /// What of both was told.
    told: Spent,
    /// The terminal event came and no further turn has begun.
    pub(super) complete: bool,
    /// What nobody can answer here: a question or a permission that is waited for.
    pub(super) waiting_for: Option<String>,
    /// A frame that can hold text of the answer could not be read: the answer has a hole.
    hole: Option<TypedError>,
    shown: Option<Activity>,
    /// Something of an answer came since this was last asked.
    answered: bool,
}

impl Progress {
    /// Reports what the slot does, when it is something new.
    pub(super) fn show(&mut self, activity: Activity, out: &mut dyn Output) {
        self.answered |= matches!(activity, Activity::Thinking | Activity::Answering | Activity::Tool(_));
        if self.shown.as_ref() != Some(&activity) {
            out.activity(activity.clone());
            self.shown = Some(activity);
        }
    }

    /// Tells what was spent, when that is something new.
    pub(super) fn tell_spent(&mut self, out: &mut dyn Output) {
        let spent = self.reported().since(self.before);
        if spent != self.told {
            self.told = spent;
            out.spent(spent);
        }
    }

    /// What the program reported.
    const fn reported(&self) -> Spent {
        Spent { usage: self.usage, cost: self.cost }
    }

    /// Whether a request was answered, at least in part, since this was last asked.
    pub(super) const fn take_answered(&mut self) -> bool {
        std::mem::replace(&mut self.answered, false)
    }

    /// Notes the conversation at its first mention.
    pub(super) fn conversation(&mut self, id: Option<&str>) {
        if self.conversation.is_none() {
            self.conversation = id.map(str::to_owned);
        }
    }

    /// A terminal event.
    pub(super) fn end(&mut self, stop: Option<StopReason>, error: Option<TypedError>) {
        self.complete = true;
        self.stop = stop;
        self.error = error;
    }

    /// Work goes on, perhaps after a terminal event: a new turn.
    pub(super) fn go_on(&mut self) {
        self.complete = false;
        self.stop = None;
    }

    /// Notes that a frame of type `kind`, which matters, is not in the form it should have.
    pub(super) fn unreadable(&mut self, kind: &str) {
        let detail = format!("a frame `{}` is not in its known form", kind.escape_debug());
        self.hole.get_or_insert_with(|| TypedError::new(Reason::BadOutput, detail));
    }

    /// What the stream amounts to.
    pub(super) fn into_end(self) -> StreamEnd {
        let reported = self.reported();
        let Spent { usage, cost } = reported.since(self.before);
        let waiting = self.waiting_for.map(|what| TypedError::new(Reason::Blocked, what));
        StreamEnd {
            error: self.error.or(waiting).or(self.hole),
            stop: self.stop,
            usage,
            cost,
            conversation: self.conversation,
            taken_up: self.taken_up,
            reported,
            dropped_settings: Vec::new(),
        }
    }
}
