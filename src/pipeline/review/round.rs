//! One round of review: a panel looks, what it says is merged under ids and voted on, and the ledger grows by it.
//!
//! A command may hold several, each in a folder of its own. Everything in a round can be done again after a kill: who
//! finished is not asked again, and what is on record is taken from there.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use rand::CryptoRng;

use super::ledger::{raise, settle_standings};
use super::seats::{SeatEnd, ask_reviewers, snapshot_rule};
use super::talks::{Spoken, Talks};
use super::texts::Texts;
use super::votes::{Voters, hold_vote, severities};
use crate::config::{OwnAnswers, ResolvedModel};
use crate::engine::{Services, Terms, record, show_last, total};
use crate::error::Result;
use crate::findings::{EarlierDeclines, FindingVotes, Identified, Known, merge};
use crate::ids::{Sha256Hash, SlotId};
use crate::pipeline::guard::Watch;
use crate::runner::{Control, Meter, Observer, StopAll, Workspace};
use crate::session::{Admission, Event, InnerPanel, Layout, NewInner, PanelFolder, Phase, Session, SessionKind};

/// What surrounds a round.
pub(in crate::pipeline) struct Surroundings<'a> {
    /// Prepared for everybody who may be asked.
    pub(in crate::pipeline) services: &'a Services,
    /// The terms that they are asked on.
    pub(in crate::pipeline) terms: Terms,
    /// The kind of session.
    pub(in crate::pipeline) kind: SessionKind,
    /// The session, whatever the folder of the panel.
    pub(in crate::pipeline) session: Layout,
    /// The snapshot that reviewers' programs work in.
    pub(in crate::pipeline) workspace: Option<Arc<Workspace>>,
    /// Signals, requests, the deadline.
    pub(in crate::pipeline) control: &'a mut Control,
    /// Shows what happens.
    pub(in crate::pipeline) observer: &'a mut dyn Observer,
    /// For ids and nonces.
    pub(in crate::pipeline) rng: &'a mut dyn CryptoRng,
}

impl<'a> Surroundings<'a> {
    /// Those of `session`, which may spend what is left of the budget of `terms`.
    pub(in crate::pipeline) fn of(
        session: &Session,
        services: &'a Services,
        terms: Terms,
        control: &'a mut Control,
        observer: &'a mut dyn Observer,
        rng: &'a mut dyn CryptoRng,
    ) -> Self {
        control.limit_cost(Meter::new(terms.max_cost, total(session).known_usd));
        let (kind, session) = (session.kind(), session.layout().clone());
        Self { services, terms, kind, session, workspace: None, control, observer, rng }
    }

    /// Whether somebody stopped the command, who may want to go on with it. When the deadline has passed, what came until
    /// then counts.
    pub(in crate::pipeline) fn is_stopped(&self) -> bool {
        matches!(self.control.stop(), Some(StopAll::Signal(_) | StopAll::Request | StopAll::Budget))
    }
}

/// What one round does.
pub(in crate::pipeline) struct RoundRequest<'a> {
    /// Which panel.
    pub(in crate::pipeline) panel: InnerPanel,
    /// Who reviews, in the user's order.
    pub(in crate::pipeline) models: &'a [ResolvedModel],
    /// Who votes; `None` for the reviewers themselves.
    pub(in crate::pipeline) judges: Option<&'a [ResolvedModel]>,
    /// Whose findings are kept from whom.
    pub(in crate::pipeline) own: OwnAnswers,
    /// What they are asked.
    pub(in crate::pipeline) texts: Texts<'a>,
    /// What earlier rounds found.
    pub(in crate::pipeline) known: &'a Known,
    /// Earlier findings that a commit is said to mend: they are voted on whether somebody finds them again or not, for
    /// silence shows nothing.
    pub(in crate::pipeline) claimed: &'a [Identified],
    /// What people declined in earlier sessions: what is that, and no worse, is not voted on.
    pub(in crate::pipeline) declined: &'a EarlierDeclines,
    /// The commit of ours that brought what is new in this round, where the round looks at nothing else.
    pub(in crate::pipeline) caused_by: Option<&'a str>,
    /// The reviewers' conversations; `None` in a session whose record knows of none.
    pub(in crate::pipeline) talks: Option<Talks<'a>>,
    /// Whether those that ended with an error of their own are asked again.
    pub(in crate::pipeline) failed: bool,
}

/// A round whose vote is over, or whose time was; what was found and what the votes say of it is in the ledger. Its folder is
/// open: what it came to is written there.
pub(in crate::pipeline) struct RoundEnd {
    /// The panel's folder.
    pub(in crate::pipeline) folder: PanelFolder,
    /// How each reviewer ended.
    pub(in crate::pipeline) seats: BTreeMap<SlotId, SeatEnd>,
    /// The ballots.
    pub(in crate::pipeline) votes: FindingVotes,
    /// Whether a vote was held.
    pub(in crate::pipeline) vote: Vote,
    /// What of the user's own files changed meanwhile, where nothing kept programs from them.
    pub(in crate::pipeline) touched: Option<String>,
}

/// Whether a vote was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pipeline) enum Vote {
    /// It was.
    Held,
    /// There was nothing to vote on.
    NothingFound,
    /// The time was over.
    OutOfTime,
}

/// How a round ended.
pub(in crate::pipeline) enum RoundOutcome {
    /// It came to its end.
    Ended(Box<RoundEnd>),
    /// It was stopped; its folder is as it was left.
    Stopped(Box<PanelFolder>),
}

/// Holds a round in `session`, or goes on with it.
pub(in crate::pipeline) async fn hold_round(
    session: &mut Session,
    request: &RoundRequest<'_>,
    around: &mut Surroundings<'_>,
) -> Result<RoundOutcome> {
    let RoundRequest { panel, models, judges, own, texts, known, claimed, declined, caused_by, talks, failed } =
        request;
    let (panel, failed) = (*panel, *failed);
    let admission = if is_raised(session, panel) { Admission::Closed } else { Admission::Open };
    let new = NewInner {
        kind: around.kind,
        panel,
        input: texts.input.as_bytes(),
        models: models.to_vec(),
        isolation: around.services.isolation(),
        prompts: texts.reviewer_hashes(),
        rules: snapshot_rule(around.workspace.as_ref()),
        plan: None,
        failed,
        admission,
    };
    if let Some(talks) = talks {
        talks.begin(session, panel)?;
    }
    let mut folder = session.panel_mut().open_inner(new, Timestamp::now(), &mut &mut *around.rng)?;
    show_last(session.panel(), &mut *around.observer);
    around.observer.enter(&panel.folder());
    show_last(&folder, &mut *around.observer);

    let watch = Watch::begin(around.services).await;
    let mut spoken = Spoken::new(session, talks.as_ref());
    let seats = ask_reviewers(&mut folder, texts, &mut spoken, around, failed, admission).await?;
    if around.is_stopped() {
        return Ok(RoundOutcome::Stopped(Box::new(folder)));
    }
    let found = seats.iter().filter_map(|(slot, seat)| Some((*slot, seat.read()?.findings.clone())));
    let found: Vec<_> = found.collect();
    // Whoever checks this merges the replies as they are on disk; what goes on from here holds no key.
    let redactor = around.services.redactor();
    let findings: Vec<Identified> =
        known.identify(merge(&found)).into_iter().map(|found| found.redacted(&redactor)).collect();
    let mut findings = raise(session, panel, findings, declined, *caused_by, around)?;
    let silent: Vec<Identified> =
        claimed.iter().filter(|claim| findings.iter().all(|found| found.id != claim.id)).cloned().collect();
    findings.extend(silent);

    let size = u32::try_from(models.len()).unwrap_or(u32::MAX);
    let (votes, vote) = if findings.is_empty() {
        (FindingVotes::none(size, &findings), Vote::NothingFound)
    } else if around.control.stop().is_some() {
        (FindingVotes::none(size, &findings), Vote::OutOfTime)
    } else {
        let voters = Voters { named: *judges, own: *own, claimed };
        match hold_vote(&mut folder, &findings, &voters, texts, around, failed).await? {
            Some(votes) => (votes, Vote::Held),
            None => return Ok(RoundOutcome::Stopped(Box::new(folder))),
        }
    };
    let touched = match watch {
        Some(watch) => watch.end("reviewers and judges").await,
        None => None,
    };
    touched.iter().for_each(|what| around.observer.trouble(what));
    let standings = votes.standings(&severities(&findings));
    settle_standings(session, panel, &standings, &votes, around)?;
    Ok(RoundOutcome::Ended(Box::new(RoundEnd { folder, seats, votes, vote, touched })))
}

/// Records in the session whose turn it is, where that is not known.
pub(in crate::pipeline) fn begin_phase(
    session: &mut Session,
    phase: Phase,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    if session.panel().status().phase == phase {
        return Ok(());
    }
    record(session.panel_mut(), Event::PhaseStarted { phase }, &mut *around.observer)?;
    Ok(())
}

/// Whether what `panel` found is in the ledger: from then on no reviewer is asked, for ids go by all that was found.
pub(super) fn is_raised(session: &Session, panel: InnerPanel) -> bool {
    let since = session.panel().records().iter().skip_while(|record| record.event != Event::PanelOpened { panel });
    since.into_iter().any(|record| matches!(record.event, Event::LedgerWritten { .. }))
}

/// The hashes of templates, by name.
pub(in crate::pipeline) type Hashes = BTreeMap<String, Sha256Hash>;
