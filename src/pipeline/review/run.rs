//! One review from beginning to end: a session is made, a round is held, the verdict is published, the session is closed.

use std::path::Path;

use jiff::Timestamp;
use rand::CryptoRng;

use super::publish::{Published, publish, published};
use super::request::{ReviewPlan, ReviewRequest, ReviewWork};
use super::round::{RoundOutcome, RoundRequest, Surroundings, hold_round};
use super::snapshot;
use super::talks::Talks;
use super::texts::{Texts, declined, omitted};
use super::votes::sees_files;
use crate::engine::{
    Context, Decision, Keeping, Outcome, Terms, end, look_last, record, show_last, stopped_state, written,
};
use crate::error::{Error, ErrorKind, Result};
use crate::findings::{Findings, Known, Sight};
use crate::ids::Sha256Hash;
use crate::judging::Nonce;
use crate::pipeline::guard::protect;
use crate::prompts::Prompts;
use crate::session::{Cast, Event, InnerPanel, NewPipeline, NewSession, Session, SessionState, accepted};

/// Holds a review in a session of its own.
///
/// # Errors
/// The quorum cannot be reached, a prompt cannot be used, or the session cannot be made or kept. What the review comes
/// to is in the outcome.
pub async fn review<R: CryptoRng>(request: ReviewRequest, context: Context<'_>, rng: &mut R) -> Result<Outcome> {
    let quorum = request.check()?;
    request.check_budget()?;
    let plan = ReviewPlan::of(&request, quorum);
    let Context { services, control, observer, announce } = context;
    let now = Timestamp::now();
    let asked = asked_text(&plan.review);
    let new = NewSession {
        base: request.keeping.folder().unwrap_or(Path::new("")),
        kind: request.kind,
        title: &request.title,
        input: asked.as_bytes(),
        task: None,
        models: Vec::new(),
        isolation: services.isolation(),
        prompts: Texts::hashes_of(&request.prompts),
        plan: Some(written(&plan)?),
        judges: request.judges.clone(),
        pipeline: Some(NewPipeline {
            cast: Cast { panel: request.models.clone(), fixer: None },
            subject: (plan.review.kind.file(), request.subject.text.as_bytes()),
        }),
    };
    let session = match request.keeping {
        Keeping::Folder(_) => Session::create(new, now, rng)?,
        Keeping::Legacy => Session::create_temporary(new, now, rng)?,
    };
    announce(session.layout().root(), session.temporary());
    control.serve(session.layout());
    observer.enter(".");
    show_last(session.panel(), observer);
    let context = Context { services, control, observer, announce };
    go_on(session, &plan.review, &request.prompts, request.terms, false, context, rng).await
}

/// `input.md` of the session: what was asked, in words.
pub(in crate::pipeline) fn asked_text(work: &ReviewWork) -> String {
    let mut text = format!("# Review of {}\n", work.told);
    if let Some(intent) = &work.intent {
        text.push_str(&format!("\nWhat it is meant to do:\n\n{}\n", intent.trim_end()));
    }
    text
}

/// The one panel of a review.
pub(super) const fn panel_of(work: &ReviewWork) -> InnerPanel {
    InnerPanel { kind: work.phase, number: 1 }
}

/// Does what is left of a review and closes its session. With `failed` those are asked again that ended with an error of
/// their own.
pub(super) async fn go_on<R: CryptoRng>(
    mut session: Session,
    work: &ReviewWork,
    prompts: &Prompts,
    terms: Terms,
    failed: bool,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    let Context { services, control, observer, announce: _ } = context;
    let mut around = Surroundings::of(&session, services, terms, &mut *control, &mut *observer, rng);
    let held = hold(&mut session, work, prompts, failed, &mut around).await;
    let stop = control.stop();
    let (decision, verdict, problem) = match held {
        Ok(Some(Published { decision, text })) => (decision, Some(text), None),
        Ok(None) => (Decision::NoDecision { why: "the review was stopped before its end".to_owned() }, None, None),
        Err(error) => {
            (Decision::NoDecision { why: "the review did not come to its end".to_owned() }, None, Some(error))
        }
    };
    end(session, decision, verdict, problem, stop, services, observer)
}

/// The verdict: that which is out already, or that of the round. `None` where it was stopped.
async fn hold(
    session: &mut Session,
    work: &ReviewWork,
    prompts: &Prompts,
    failed: bool,
    around: &mut Surroundings<'_>,
) -> Result<Option<Published>> {
    if let Some(before) = published(session)? {
        return Ok(Some(before));
    }
    let subject = subject_text(session, work, around)?;
    let cast = session.panel().manifest().cast.clone();
    let cast = cast.ok_or_else(|| Error::new(ErrorKind::Integrity, "the session's manifest names no reviewers"))?;
    let judges = session.panel().manifest().judges.clone();
    if cast.panel.iter().chain(judges.iter().flatten()).any(sees_files) {
        protect(work.source.root(), around.services).await;
        around.workspace = match snapshot::taken(session)? {
            Some(taken) => Some(taken),
            None => {
                let (services, control) = (around.services, &mut *around.control);
                snapshot::take(session, &work.source, services, control, &mut *around.observer).await?
            }
        };
        if around.is_stopped() {
            return Ok(None);
        }
    }
    let panel = panel_of(work);
    let omitted = omitted(work);
    let sight = if around.workspace.is_some() { Sight::Snapshot } else { Sight::Prompt };
    let artefact = Texts::artefact_of(work, &subject, &omitted, sight);
    let nothing = Findings::default();
    let declined = declined(&nothing, &work.declined, panel.number);
    let input = if session.panel().has_inner(panel)? {
        // What its reviewers were asked.
        fs_err::read_to_string(session.layout().inner(panel).input())?
    } else {
        let nonce = Nonce::draw(&mut &mut *around.rng);
        Texts::first(prompts, artefact, &declined, &nonce)?
    };
    let scan = Texts::scan_of(&cast.panel);
    let texts = Texts { prompts, input: &input, artefact, leaks: work.leaks, scan, declined: &declined };
    let request = RoundRequest {
        panel,
        models: &cast.panel,
        judges: judges.as_deref(),
        own: work.own(),
        texts,
        known: &Known::new(),
        claimed: &[],
        declined: &work.declined,
        caused_by: None,
        talks: Talks::begun(session, work.session_reuse, cast.panel.len()),
        failed,
    };
    match hold_round(session, &request, around).await? {
        RoundOutcome::Ended(round) => {
            look_last(session.panel_mut(), around.services, &mut *around.observer).await?;
            publish(session, work, *round, around).map(Some)
        }
        RoundOutcome::Stopped(folder) => {
            let state = around.control.stop().map_or(SessionState::Cancelled, stopped_state);
            let status = folder.status().clone();
            let last = session.panel_mut().close_inner(panel, *folder, state, Timestamp::now())?;
            around.observer.event(&last, &status);
            around.observer.enter(".");
            show_last(session.panel(), &mut *around.observer);
            Ok(None)
        }
    }
}

/// What is reviewed, as it was put into the session; its file is put on record where it is not.
pub(in crate::pipeline) fn subject_text(
    session: &mut Session,
    work: &ReviewWork,
    around: &mut Surroundings<'_>,
) -> Result<String> {
    let file = work.kind.file();
    let path = session.layout().root().join(file);
    let bytes = crate::fs::read_plain(&path)?;
    let known = accepted(session.panel().records());
    let expected = known.get(file).map_or(work.sha256, |(hash, _)| *hash);
    if Sha256Hash::of(&bytes) != expected {
        return Err(Error::new(ErrorKind::Integrity, format!("`{}` is not what was to be reviewed", path.display()))
            .hint("it was changed after it was written; review again"));
    }
    let event = Event::FileWritten { file: file.to_owned(), sha256: work.sha256 };
    if !session.panel().records().iter().any(|record| record.event == event) {
        record(session.panel_mut(), event, &mut *around.observer)?;
    }
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::Integrity, format!("`{}` is no text", path.display())))
}
