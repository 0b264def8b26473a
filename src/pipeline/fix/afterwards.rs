//! Decisions that outlive their session: what is declined, and what is open again, for later reviews and fixes of the
//! branch. Of a session that has ended that is all that can still be decided.

use jiff::Timestamp;

use super::decide::{Response, known};
use crate::error::{Error, Result};
use crate::findings::{FindingId, FindingState, Findings, LedgerRead, Remark};
use crate::pipeline::declines::{DeclineRegister, NewDecision};
use crate::pipeline::review::{ReviewPlan, ReviewWork};
use crate::session::{History, Layout};

/// Keeps for later runs what `response` declines or opens again of the findings of `session`, as its ledger has them now.
pub(super) async fn keep(
    register: &DeclineRegister,
    session: &str,
    work: &ReviewWork,
    findings: &Findings,
    response: &Response,
) -> Result<()> {
    let decisions = decisions(register, session, work, findings, response)?;
    register.add(decisions, Timestamp::now()).await
}

fn decisions(
    register: &DeclineRegister,
    session: &str,
    work: &ReviewWork,
    findings: &Findings,
    response: &Response,
) -> Result<Vec<NewDecision>> {
    let by = response.by.clone();
    let mut decisions = Vec::new();
    for id in &response.decline {
        let Some(record) = findings.get(*id) else { continue };
        let note = Remark::new(response.note_on(*id).unwrap_or_default());
        let declined = Some((work.point.clone(), record.finding.clone(), note));
        decisions.push(NewDecision { session: session.to_owned(), finding: *id, by: by.clone(), declined });
    }
    let again: Vec<FindingId> = response.fix.iter().chain(&response.reopen).copied().collect();
    if again.is_empty() {
        return Ok(decisions);
    }
    let held = register.of_session(session)?;
    let mut take_back = |session: &str, finding: FindingId| {
        decisions.push(NewDecision { session: session.to_owned(), finding, by: by.clone(), declined: None });
    };
    for id in again {
        if held.contains(&id) {
            take_back(session, id);
        }
        let Some(record) = findings.get(id).filter(|record| record.declined_before.is_some()) else { continue };
        // It may have been declined more than once.
        let same = |origin| record.declined_before.as_ref() == Some(origin);
        for earlier in work.declined.iter() {
            if same(&earlier.origin) || earlier.is_about(&record.finding) {
                take_back(&earlier.origin.session, earlier.origin.finding);
            }
        }
    }
    Ok(decisions)
}

/// Decides about findings of the session at `layout`, a review or a fix that has ended: they are declined or open again for
/// later reviews and fixes of the branch. The session itself stays as it ended.
///
/// # Errors
/// Something else is decided, a finding is not one that this can be said of, or it cannot be kept.
pub async fn decide_afterwards(layout: &Layout, base: &std::path::Path, response: &Response) -> Result<()> {
    let Response { fix, decline, reopen, add, end, note, notes, by: _ } = response;
    let id = layout.name();
    if !fix.is_empty() || !add.is_empty() || end.is_some() {
        return Err(Error::usage(format!("`{id}` has ended, and waits for no decision"))
            .hint("`--decline` and `--reopen` can still be said of its findings: later reviews and fixes are told"));
    }
    if decline.is_empty() && reopen.is_empty() {
        return Err(Error::usage(format!("nothing is decided, and `{id}` has ended"))
            .hint("`--decline F01 --note WHY` or `--reopen F01`: later reviews and fixes of the branch are told"));
    }
    note.iter().chain(notes.values()).try_for_each(|note| Response::check_note(note))?;
    if let Some(both) = reopen.iter().find(|id| decline.contains(id)) {
        return Err(Error::usage(format!("{both} cannot be both opened again and declined")).hint("name it once"));
    }
    let findings = match LedgerRead::read(&layout.ledger()) {
        Ok(read) => read.findings,
        Err(_) if !layout.ledger().exists() => Findings::default(),
        Err(error) => return Err(error.into()),
    };
    let work = ReviewPlan::read(&History::read(&layout.events())?.records)?.review;
    let register = DeclineRegister::of(base);
    let held = register.of_session(&id)?;
    for id in decline {
        let record = known(&findings, *id)?;
        let is_declined = held.contains(id);
        if is_declined || record.state == FindingState::Verified {
            let state = if is_declined { FindingState::Declined } else { record.state };
            return Err(Error::usage(format!("{id} is {state} already")).hint("name findings that stand"));
        }
    }
    for id in reopen {
        let record = known(&findings, *id)?;
        if !held.contains(id) && record.declined_before.is_none() {
            return Err(
                Error::usage(format!("{id} is not declined")).hint("`--reopen` is for findings that were declined")
            );
        }
    }
    keep(&register, &id, &work, &findings, response).await
}
