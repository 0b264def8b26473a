//! A stop from outside: asks the living owner of a session for it, and waits until it has happened.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use rand::CryptoRng;

use crate::error::{Error, Result};
use crate::ids::SlotId;
use crate::session::requests::{self, Request};
use crate::session::slot::SlotState;
use crate::session::{Layout, Round, SessionError, View};

/// How long a cancelled session or slot is waited for.
const WAIT: Duration = Duration::from_secs(20);

/// How often it is looked at meanwhile.
const POLL: Duration = Duration::from_millis(50);

/// Asks the owner of a running session to stop it, or one slot of it, and waits until that has happened; says in a
/// sentence how it stands then.
///
/// What has ended already needs no stop: that is no error, however often it is asked for.
///
/// # Errors
/// There is no such slot, the session cannot be read, or its owner has not stopped it in time.
pub fn cancel(layout: &Layout, slot: Option<SlotId>, rng: &mut impl CryptoRng) -> Result<String> {
    let view = View::read(layout.clone())?;
    // A slot is one of the round of votes that goes on, if one does.
    let round = view.round.as_ref().filter(|(_, status)| status.state.is_active()).map(|(round, _)| *round);
    if let Some(slot) = slot
        && state_of(&view, round, slot).is_none()
    {
        return Err(SessionError::NoSlot { session: view.meta.session_id, slot }.into());
    }
    if has_ended(&view, round, slot) {
        return Ok(ended_note(&view, round, slot));
    }
    requests::send(layout, Request::Cancel { slot, round }, Timestamp::now(), rng)?;
    let deadline = Instant::now() + WAIT;
    loop {
        let view = View::read(layout.clone())?;
        if has_ended(&view, round, slot) {
            return Ok(ended_note(&view, round, slot));
        }
        if Instant::now() >= deadline {
            return Err(Error::usage(format!(
                "`{}` was asked to stop and has not ended after {} s",
                view.meta.session_id,
                WAIT.as_secs()
            ))
            .hint(format!("its owner is {}", view.owner.as_deref().unwrap_or("gone"))));
        }
        std::thread::sleep(POLL);
    }
}

/// The state of a judge of `round`, or of one of the session's own slots where there is none.
///
/// `None` also for a judge whose round has given way to a newer one.
fn state_of(view: &View, round: Option<Round>, slot: SlotId) -> Option<SlotState> {
    let status = match (round, &view.round) {
        (None, _) => view.panel(),
        (Some(asked), Some((newest, status))) if asked == *newest => status,
        (Some(_), _) => return None,
    };
    Some(status.models.get(&slot)?.state)
}

fn has_ended(view: &View, round: Option<Round>, slot: Option<SlotId>) -> bool {
    view.owner.is_none() || slot.is_some_and(|slot| state_of(view, round, slot).is_none_or(SlotState::is_terminal))
}

fn ended_note(view: &View, round: Option<Round>, slot: Option<SlotId>) -> String {
    let session = &view.meta.session_id;
    let what = if round.is_some() { "judge" } else { "slot" };
    match slot.and_then(|slot| Some((slot, state_of(view, round, slot)?))) {
        Some((slot, state)) => format!("{what} {slot} of `{session}` is {}", state.as_str()),
        None => format!("`{session}` is {}", view.state().as_str()),
    }
}
