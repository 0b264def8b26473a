//! Whether those who failed can be asked again. Ids of findings go by all that was found, so nobody is asked any more once
//! that is in the ledger; judges are, as long as their vote is not over.

use super::round::is_raised;
use super::votes::{ROUND, is_over};
use crate::error::{Error, Result};
use crate::ids::SlotId;
use crate::session::{InnerPanel, Session, Status};

/// Refuses to ask those again who failed in `panel`, where that would do nothing: before anything is written.
///
/// # Errors
/// Somebody failed, and nobody of them would be asked.
pub(in crate::pipeline) fn check_failed(session: &Session, panel: InnerPanel, instead: &str) -> Result<()> {
    if !session.panel().has_inner(panel)? || !is_raised(session, panel) {
        return Ok(());
    }
    let folder = session.panel().enter_inner(panel)?;
    let reviewers = failed(folder.status());
    let round = folder.enter_round(ROUND)?;
    let over = round.as_ref().is_none_or(is_over);
    let judges = round.as_ref().map(|round| failed(round.status())).unwrap_or_default();
    if reviewers.is_empty() && judges.is_empty() || !judges.is_empty() && !over {
        return Ok(());
    }
    let place = panel.folder();
    let named = |who: &str, slots: &[SlotId]| {
        let ids: Vec<String> = slots.iter().map(ToString::to_string).collect();
        (!ids.is_empty()).then(|| format!("{who} {}", ids.join(", ")))
    };
    let who: Vec<String> = [named("reviewer", &reviewers), named("judge", &judges)].into_iter().flatten().collect();
    let why =
        format!("`--failed`: what was found in `{place}` is on record, so {} is not asked again", who.join(" and "));
    Err(Error::usage(why).hint(instead).hint("without `--failed` it goes on with what there is"))
}

/// Those that ended with an error of their own.
fn failed(status: &Status) -> Vec<SlotId> {
    let again = status.left(true);
    let stopped = status.left(false);
    again.into_iter().filter(|slot| !stopped.contains(slot)).collect()
}
