//! Going on with a session: what is left of it, whether anything is not as it was, and doing the rest as a first run does.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rand::CryptoRng;

use super::bill::total;
use super::drift::{Drifted, drifted_prompts};
use super::outcome::{Decision, Outcome};
use super::plan::{ImportPlan, RoundPlan, RunPlan, Terms};
use super::record::show_since;
use super::round::{Opened, Otherwise, prompt_hashes};
use super::run::{Ballots, Context, Work, abandon, go_on, stands};
use super::vote::{self, VoteWork};
use super::workspace::Stand;
use crate::config::{ResolvedModel, Target};
use crate::error::{Error, Result};
use crate::ids::SlotId;
use crate::money::Usd;
use crate::runner::Limits;
use crate::session::slot::SlotState;
use crate::session::{
    Drift, Ended, Event, Manifest, PanelFolder, Phase, Round, Session, SessionState, TakeUp, Why, opened_for,
};

/// How a session is resumed.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResumeOptions {
    /// Whether slots and judges that ended with an error of their own are asked again.
    pub failed: bool,
    /// Whether it goes on although something is not as it was.
    pub accept_drift: bool,
    /// Other limits than those that the session began with.
    pub pace: Pace,
}

/// Limits in the place of those on record, where given; of the times `Some(None)` is no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    /// The most time for one attempt of a slot.
    pub timeout: Option<Option<Duration>>,
    /// The most time without a byte from a slot.
    pub idle_timeout: Option<Option<Duration>>,
    /// The longest that the whole command may take.
    pub deadline: Option<Option<Duration>>,
    /// How many slots run at once.
    pub jobs: Option<usize>,
    /// How often a request is tried again.
    pub retries: Option<u32>,
    /// The most that the session may spend, with what it has spent.
    pub max_cost: Option<Usd>,
}

impl Pace {
    /// The terms on record, but for what is given here.
    pub(crate) fn over(self, Terms { limits, deadline, max_cost, require_blind }: Terms) -> Terms {
        Terms {
            limits: Limits {
                timeout: self.timeout.unwrap_or(limits.timeout),
                idle_timeout: self.idle_timeout.unwrap_or(limits.idle_timeout),
                jobs: self.jobs.or(limits.jobs),
                retries: self.retries.unwrap_or(limits.retries),
            },
            deadline: self.deadline.unwrap_or(deadline),
            max_cost: self.max_cost.or(max_cost),
            require_blind,
        }
    }
}

/// What is left of a session.
pub struct Resumption {
    work: Work,
    failed: bool,
    drift: Drift,
    slots: Vec<SlotId>,
    judging: Judging,
    /// Everybody that may be asked, or was.
    asked: Vec<ResolvedModel>,
    /// Whether the session is closed, with everything that belongs to that.
    is_sealed: bool,
    state: SessionState,
    /// The votes that cannot be gone on with.
    dropped: Option<Dropped>,
    /// A round of ballots from elsewhere that was not finished.
    abandoned: Option<Round>,
}

/// Votes that were begun and cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    /// Nothing of their round was made yet, so that nobody knows whom `judge` was to ask.
    Votes,
    /// Ballots from elsewhere that were not all kept.
    Ballots {
        /// What the user called the files, as far as that is known.
        files: Vec<String>,
        /// The pattern that they were read by, where that is known.
        pattern: Option<String>,
    },
}

impl Dropped {
    /// Of a round that cannot be gone on with.
    fn of(folder: &PanelFolder) -> Result<Self> {
        let Some(plan) = ImportPlan::read(folder.records())? else { return Ok(Self::Votes) };
        let pattern = folder.records().iter().find_map(|record| match &record.event {
            Event::Imported { pattern, .. } => pattern.clone(),
            _ => None,
        });
        Ok(Self::Ballots { files: plan.names().to_vec(), pattern })
    }
}

/// What is left of the votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judging {
    /// None were wanted, or their verdict is out.
    Nothing,
    /// A round is to be finished, or to be held.
    Left,
}

impl Resumption {
    /// Looks at what is left of `session`, whose lock the caller holds. Writes nothing.
    ///
    /// # Errors
    /// An answer is missing, changed or unknown to the record; or something is not as it was and that is not accepted.
    pub fn of(session: &Session, options: ResumeOptions) -> Result<Self> {
        let panel = session.panel();
        panel.check_answers()?;
        let plan = RunPlan::read(panel.records())?;
        let mut drift = Drifted::new(session.layout(), panel.records());
        drift.look(panel.records(), session.layout())?;
        // The texts that models are asked with matter only where somebody may be asked.
        let mut texts = Vec::new();
        let slots = panel.left(options.failed);
        let manifest = panel.manifest();

        let newest = session.newest_round()?.map(|stand| Ok::<_, Error>((stand, session.enter_round(stand.round)?)));
        let newest = newest.transpose()?;
        // Whom a `judge` was to ask that died before its round was made, nobody knows.
        let judged_again = match &newest {
            Some((stand, _)) => stand.judged_again,
            None => opened_for(panel.records()),
        };
        let round_plan = match &newest {
            Some((_, folder)) => {
                folder.check_answers()?;
                RoundPlan::read(folder.records())?
            }
            None => None,
        };
        // What the newest round was held by holds for what is left of it; of a round of ballots from elsewhere nothing is.
        let mut terms = plan.terms();
        let judge = match (&newest, &round_plan) {
            (Some((stand, folder)), Some(round)) => {
                if !stand.published {
                    terms = Terms { limits: round.terms().limits, ..terms };
                    drift.look(folder.records(), folder.layout())?;
                    drift.look_at_turns(folder)?;
                }
                let named = || members_of(folder.manifest());
                Some(Ballots::Asked(round.judging.request(named, &mut texts)?))
            }
            // Ballots from elsewhere that were not all kept have to be given again.
            (Some((stand, folder)), None) if !stand.published => match ImportPlan::read(folder.records())? {
                Some(import) => {
                    drift.look(folder.records(), folder.layout())?;
                    import.request(folder.records(), folder.layout())?.map(Ballots::Imported)
                }
                None => None,
            },
            (None, _) if judged_again.is_some() => None,
            _ => {
                let named = || manifest.judges.clone().unwrap_or_default();
                let request = plan.judging.as_ref().map(|judging| judging.request(named, &mut texts));
                request.transpose()?.map(Ballots::Asked)
            }
        };
        let abandoned = newest.as_ref().filter(|(stand, _)| {
            !stand.published && round_plan.is_none() && !matches!(judge, Some(Ballots::Imported(_)))
        });
        let dropped = match &abandoned {
            Some((_, folder)) => Some(Dropped::of(folder)?),
            None => judged_again.map(|why| match why {
                Why::Import => Dropped::Ballots { files: Vec::new(), pattern: None },
                _ => Dropped::Votes,
            }),
        };
        let abandoned = abandoned.map(|(stand, _)| stand.round);
        if let Some(Ballots::Asked(judge)) = &judge {
            // A round of ballots from elsewhere has no prompts: what is left then is by the plan of the session itself.
            let round = newest.as_ref().filter(|_| round_plan.is_some());
            let recorded = round.map_or(panel.records(), |(_, folder)| folder.records());
            texts.extend(drifted_prompts(recorded, prompt_hashes(&judge.prompts)));
        }
        let resumed = |plan| VoteWork::resumed(plan, options.failed, &mut texts);
        let vote = plan.voting.clone().map(resumed).transpose()?;
        if let Some(vote) = &vote {
            texts.extend(drifted_prompts(panel.records(), vote.prompt_hashes()));
            drift.look_at_turns(panel)?;
        }
        let sees_files = |slot: &SlotId| {
            manifest.member(*slot).is_some_and(|member| matches!(member.resolved.target, Target::Process { .. }))
        };
        let workspace = match slots.iter().any(sees_files) {
            true => {
                Stand::of(plan.workspace.as_ref(), panel.records(), session.layout(), &mut drift.found.differences)?
            }
            false => Stand::Nothing,
        };

        let complete = panel.status().models.iter().filter(|(slot, entry)| {
            entry.state == SlotState::Completed
                || entry.state == SlotState::Running && session.layout().response(**slot).is_file()
        });
        let complete = complete.count();
        let verdict_stands = newest.as_ref().is_some_and(|(stand, _)| stand.published && !stand.is_outdated);
        let can_be_judged =
            complete + slots.len() >= 2 && !(plan.strict && complete + slots.len() < manifest.models.len());
        let is_left = match (&vote, &judge) {
            (Some(_), _) => !slots.is_empty() || complete > 0 && !vote::stands(panel.records()),
            (None, Some(_)) => can_be_judged && (!verdict_stands || !slots.is_empty()),
            (None, None) => false,
        };
        let judging = if is_left { Judging::Left } else { Judging::Nothing };
        if is_left || !slots.is_empty() {
            drift.found.differences.append(&mut texts);
        }
        let drift = drift.accept(session.id(), options.accept_drift)?;
        let goes_on = match &judge {
            Some(Ballots::Asked(_)) => round_plan.is_some(),
            Some(Ballots::Imported(_)) => true,
            None => false,
        };
        let opened = newest.as_ref().filter(|_| goes_on);
        let otherwise = if drift.differences.is_empty() { Otherwise::Refuse } else { Otherwise::Anew };
        let opened = opened.map(|(stand, _)| Opened { round: stand.round, failed: options.failed, otherwise });
        // Those that answered already are asked nothing; but their keys must not be written either.
        // In a vote they may be asked once more.
        let asks_again = vote.is_some() && judging == Judging::Left;
        let needed = |slot: &SlotId, model: &ResolvedModel| {
            asks_again || slots.contains(slot) || !matches!(model.target, Target::Local { .. })
        };
        let members = manifest.models.iter().map(|(slot, member)| (slot, &member.resolved));
        let mut asked: Vec<ResolvedModel> =
            members.filter(|(slot, model)| needed(slot, model)).map(|(_, model)| model.clone()).collect();
        if judging == Judging::Left
            && vote.is_none()
            && let Some(Ballots::Asked(judge)) = &judge
        {
            asked.extend(judge.judges_of(&members_of(manifest)));
        }
        let work = Work {
            terms: options.pace.over(terms),
            checks: plan.checks()?,
            strict: plan.strict,
            judge,
            vote,
            opened,
            notes: plan.notes,
            workspace,
        };
        Ok(Self {
            work,
            failed: options.failed,
            drift,
            slots,
            judging,
            asked,
            is_sealed: session.is_sealed(),
            state: panel.status().state,
            dropped,
            abandoned,
        })
    }

    /// The models that may be asked, and those of the panel that answered.
    #[must_use]
    pub fn asked(&self) -> Vec<&ResolvedModel> {
        self.asked.iter().collect()
    }

    /// The terms that they are asked on.
    #[must_use]
    pub const fn terms(&self) -> Terms {
        self.work.terms
    }

    /// What is not as it was, and was accepted.
    #[must_use]
    pub fn drift(&self) -> &[String] {
        &self.drift.differences
    }

    /// The slots that are asked.
    #[must_use]
    pub fn slots(&self) -> &[SlotId] {
        &self.slots
    }

    /// The votes that were begun and cannot be gone on with.
    #[must_use]
    pub const fn dropped(&self) -> Option<&Dropped> {
        self.dropped.as_ref()
    }

    /// Whether nothing is left but what a close writes, if that.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let has_ended = !self.state.is_active() && self.state != SessionState::Interrupted;
        has_ended && self.slots.is_empty() && self.judging == Judging::Nothing
    }

    /// The folder of which a snapshot is to be taken, because none was finished before.
    #[must_use]
    pub fn snapshot_of(&self) -> Option<&Path> {
        match &self.work.workspace {
            Stand::Planned(plan) => plan.dir(),
            Stand::Nothing | Stand::Selected(_) | Stand::Taken { .. } => None,
        }
    }

    /// Whether the panel votes on the task itself.
    #[must_use]
    pub const fn is_vote(&self) -> bool {
        self.work.vote.is_some()
    }

    /// Whether votes are left.
    #[must_use]
    pub fn is_to_be_judged(&self) -> bool {
        self.judging == Judging::Left
    }
}

/// Does what is left of a session, as a first run does, and closes it.
pub async fn resume<R: CryptoRng>(
    mut session: Session,
    mut resumption: Resumption,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    let Context { services, control, observer, announce } = context;
    // Before anything is written: where it cannot be taken now, the session stays as it is.
    resumption.work.workspace = resumption.work.workspace.selected(session.layout(), services).await?;
    announce(session.layout().root(), None);
    control.serve(session.layout());
    observer.enter(".");
    let known = session.panel().records().len();
    let isolation = services.isolation();
    let how = TakeUp {
        failed: resumption.failed,
        drift: &resumption.drift,
        isolation: Some(&isolation),
        ended: Ended::GoesOn,
    };
    session.take_up(how, Timestamp::now())?;
    show_since(session.panel(), known, observer);
    if let Some(round) = resumption.abandoned {
        abandon(&mut session, round)?;
    }
    go_on(session, &resumption.work, services, control, observer, rng).await
}

/// What a session amounts to of which nothing is left to do. Writes what its close lacks.
pub fn finished(mut session: Session, resumption: &Resumption) -> Result<Outcome> {
    let layout = session.layout().clone();
    let status = session.panel().status();
    let (complete, all) = (status.count(SlotState::Completed), status.models.len());
    let mut decision = if complete == 0 || (resumption.work.strict && complete < all) {
        Decision::NothingUsable { complete, all }
    } else {
        Decision::Answers { complete, all }
    };
    let mut verdict = None;
    session.finish_phase(Phase::Run);
    if resumption.work.vote.is_some() {
        match vote::published(&mut session, resumption.work.strict)? {
            Some(before) => {
                decision = before.decision;
                verdict = Some(before.text);
            }
            None if complete == 0 => decision = Decision::NothingUsable { complete, all },
            None => decision = Decision::NoDecision { why: "the votes were not counted".to_owned() },
        }
    } else if let Some(before) = stands(&mut session)? {
        decision = before.decision;
        verdict = Some(before.text);
    } else if resumption.work.judge.is_some() && matches!(decision, Decision::Answers { .. }) {
        decision = Decision::NoDecision { why: "the answers were not judged".to_owned() };
    }
    if !resumption.is_sealed {
        session.tell_money(total(&session));
        session.finish_close()?;
    }
    Ok(Outcome { layout, decision, verdict, stop: None })
}

/// The models of a panel, in the user's order.
fn members_of(manifest: &Manifest) -> Vec<ResolvedModel> {
    let members = manifest.shuffle_order.iter().filter_map(|slot| manifest.member(*slot));
    members.map(|member| member.resolved.clone()).collect()
}
