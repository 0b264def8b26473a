//! From what a gate did to what it reports.

use std::collections::BTreeMap;

use super::head::{Head, stale};
use crate::config::{Config, GateKind, OmittedRule};
use crate::engine::{Decision, Outcome};
use crate::error::{Error, ErrorKind, ExitCode};
use crate::ids::{FormatVersion, SlotId};
use crate::judging::VoteVerdict;
use crate::report::ci::{
    FindingsReport, GateOutcome, GateReport, Issue, Member, OmissionReason, Origin, ReportCommand, Ruling, SeenFile,
    SubjectReport,
};
use crate::runner::StopAll;
use crate::verdict::{TaskDecision, TaskVerdict, task_summary};

/// The most files that a note names.
const NAMED: usize = 100;

/// What is known of a gate, as far as it got.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Whether a panel votes on it or reviews it.
    pub kind: GateKind,
    /// What is looked at.
    pub subject: Option<SubjectReport>,
    /// Where its settings came from.
    pub settings: Vec<Origin>,
    /// What variables say of the gate, in words.
    pub by_variables: Vec<String>,
    /// Files by which the branch would change it.
    pub settings_changed: Vec<String>,
    /// Every file that changed.
    pub files: Vec<SeenFile>,
    /// What follows when some were not looked at.
    pub omitted: OmittedRule,
    /// What a reader should know besides.
    pub warnings: Vec<String>,
}

fn quoted(path: &str) -> String {
    format!("`{}`", path.replace('`', "'"))
}

impl Facts {
    /// Notes where the settings of `config` are from.
    pub fn set_origins(&mut self, config: &Config) {
        let origin =
            |origin: &crate::config::Origin| Origin { layer: origin.layer().to_owned(), from: origin.to_string() };
        self.settings = config.files().iter().map(origin).collect();
        for (key, variable) in config.gate_variables() {
            self.settings.push(origin(&crate::config::Origin::Variable(variable.to_owned())));
            self.by_variables.push(format!("`{key}` of the gate is that of `${variable}`, whatever the base says"));
        }
    }

    /// Files that were not looked at although the base's settings do not say that nobody needs to.
    fn unseen(&self) -> impl Iterator<Item = (&SeenFile, OmissionReason)> {
        let omitted = self.files.iter().filter_map(|file| Some((file, file.omitted?)));
        omitted.filter(|(_, reason)| *reason != OmissionReason::Ignored)
    }

    /// How many of them there are, in words.
    fn unseen_in_words(&self) -> Option<String> {
        let files: Vec<&str> = self.unseen().map(|(file, _)| file.path.as_str()).collect();
        match files.as_slice() {
            [] => None,
            [one] => Some(format!("`{one}` was not looked at")),
            [first, rest @ ..] => Some(format!("`{first}` and {} more were not looked at", rest.len())),
        }
    }

    /// The receipt for the verdict: which commit, which files, which not and why.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(subject) = &self.subject {
            let merge = match &subject.pull_request_head {
                Some(head) => format!(", the merge of {} into its base", quoted(head)),
                None => String::new(),
            };
            notes.push(format!(
                "this is about commit {}{merge}, compared with {} ({}) from commit {} on",
                quoted(&subject.head),
                quoted(&subject.base),
                quoted(&subject.base_commit),
                quoted(&subject.merge_base)
            ));
        }
        // A review has a receipt of its own.
        if !self.files.is_empty() && self.kind == GateKind::Vote {
            let omitted = self.files.iter().filter(|file| file.omitted.is_some()).count();
            notes.push(format!("{} of {} changed files were looked at", self.files.len() - omitted, self.files.len()));
            let listed = self.files.iter().filter_map(|file| Some((file, file.omitted?))).take(NAMED);
            notes.extend(
                listed.map(|(file, reason)| format!("not looked at: {} ({})", quoted(&file.path), reason.describe())),
            );
            if omitted > NAMED {
                notes.push(format!("not looked at: {} more", omitted - NAMED));
            }
            let told = self.files.iter().filter_map(|file| Some((file, file.note.as_ref()?)));
            let told = told.filter(|(file, _)| file.omitted.is_none()).take(NAMED);
            notes.extend(told.map(|(file, note)| format!("{}: {note}", quoted(&file.path))));
        }
        if self.unseen().next().is_some() && self.omitted == OmittedRule::Person {
            notes.push("whatever the panel decides, a person must look at what was not looked at".to_owned());
        }
        notes.extend(self.by_variables.iter().cloned());
        notes.extend(self.settings_changed.iter().map(|path| {
            format!("the branch changes {}, which says how the gate works; the gate went by the base's", quoted(path))
        }));
        notes.extend(self.warnings.iter().cloned());
        notes
    }

    fn report(self, outcome: GateOutcome, code: ExitCode, summary: String, details: Vec<String>) -> GateReport {
        GateReport {
            version: FormatVersion::CURRENT,
            command: ReportCommand::Gate,
            kind: self.kind,
            outcome,
            exit_code: code.code(),
            summary,
            details,
            subject: self.subject,
            settings: self.settings,
            settings_changed: self.settings_changed,
            files: self.files,
            ruling: None,
            findings: None,
            fix: None,
            // What is not as the base says weighs more than what is out of sight.
            warnings: self.by_variables.into_iter().chain(self.warnings).collect(),
            session: None,
        }
    }
}

/// The report of a gate that could not do its work.
#[must_use]
pub fn refused(facts: Facts, error: &Error) -> GateReport {
    let code = error.kind().exit_code();
    let outcome = match error.kind() {
        ErrorKind::NoDecision => GateOutcome::NoDecision,
        _ => GateOutcome::Failed,
    };
    facts.report(outcome, code, format!("the gate did not run: {}", error.chain()), error.hints().to_vec())
}

/// The report of a gate that had nothing to look at, for this reason.
#[must_use]
pub fn unchanged(facts: Facts, why: &str) -> GateReport {
    let what = match facts.kind {
        GateKind::Vote => "vote on",
        GateKind::Review => "review",
    };
    facts.report(GateOutcome::Unchanged, ExitCode::DONE, format!("nothing to {what}: {why}"), Vec::new())
}

/// The report of a gate that could look at nothing of what changed.
#[must_use]
pub fn needs_person(facts: Facts) -> GateReport {
    let why = facts.unseen_in_words().unwrap_or_default();
    let summary = format!("a person must look: {why}, and nothing else changed");
    facts.report(GateOutcome::NoDecision, ExitCode::NO_DECISION, summary, vec![WAY_OUT.to_owned()])
}

/// What to do about files that were not looked at.
const WAY_OUT: &str = "look at it and merge by hand, or name what nobody needs to look at in `gate.ignore` of the base, \
                       or raise `gate.max_bytes`";

/// The report of a vote, or of a review that `found` this.
#[must_use]
pub fn concluded(facts: Facts, voted: &Outcome, found: Option<FindingsReport>, head: &Head) -> GateReport {
    let unseen = facts.unseen_in_words().filter(|_| facts.omitted == OmittedRule::Person);
    let mut code = voted.exit_code();
    let mut details = Vec::new();
    let (mut outcome, mut summary) = match &voted.decision {
        Decision::Voted { verdict, short, .. } => {
            let outcome = match (verdict.decision, short) {
                (_, true) => GateOutcome::Failed,
                (TaskDecision::Approved, false) => GateOutcome::Approved,
                (TaskDecision::Rejected, false) => GateOutcome::Rejected,
                (TaskDecision::Split | TaskDecision::Inconclusive, false) => GateOutcome::NoDecision,
            };
            (outcome, task_summary(verdict))
        }
        Decision::NothingUsable { complete, all } => {
            (GateOutcome::Failed, format!("nothing usable: {complete} of {all} members answered"))
        }
        Decision::NoDecision { why } => (GateOutcome::NoDecision, format!("no decision: {why}")),
        Decision::Reviewed(verdict) => (GateOutcome::from(verdict.decision), verdict.sentence.clone()),
        // Neither ends like this.
        Decision::Answers { .. } | Decision::Ranking | Decision::Fix { .. } => {
            (GateOutcome::Failed, "no vote was taken".to_owned())
        }
    };
    if let Some(stop) = voted.stop {
        details.push(format!("stopped ({}); run the gate again", stop.cause()));
        if matches!(stop, StopAll::Signal(_) | StopAll::Request) {
            outcome = GateOutcome::Failed;
        }
    }
    let is_decided = matches!(outcome, GateOutcome::Approved | GateOutcome::Rejected | GateOutcome::NoDecision);
    match head {
        Head::Moved(now) if is_decided => {
            details.insert(0, summary);
            summary = stale(now.as_ref(), facts.kind);
            details.push("run the gate again on what is there now".to_owned());
            (outcome, code) = (GateOutcome::NoDecision, ExitCode::NO_DECISION);
        }
        _ => {}
    }
    if let (GateOutcome::Approved, Some(unseen)) = (outcome, unseen) {
        details.insert(0, summary);
        summary = format!("a person must look: {unseen}");
        details.push(WAY_OUT.to_owned());
        (outcome, code) = (GateOutcome::NoDecision, ExitCode::NO_DECISION);
    }
    let mut report = facts.report(outcome, code, summary, details);
    report.session = Some(voted.layout.root().to_owned());
    report.findings = found;
    if let Decision::Voted { verdict, models, .. } = &voted.decision {
        report.ruling = Some(ruling(verdict, models));
    }
    report
}

fn ruling(verdict: &TaskVerdict, models: &BTreeMap<SlotId, String>) -> Ruling {
    let members = verdict
        .members
        .iter()
        .map(|member| {
            let vote = member.counted();
            Member {
                id: member.id.to_string(),
                model: models.get(&member.id).cloned().unwrap_or_default(),
                vote: vote.map(|vote| word(vote.verdict).to_owned()),
                confidence: vote.and_then(|vote| vote.confidence),
                summary: match vote {
                    Some(vote) => Some(vote.summary.clone()).filter(|summary| !summary.is_empty()),
                    None => Some(why_missing(member)),
                },
            }
        })
        .collect();
    Ruling {
        decision: verdict.decision.as_str().to_ascii_lowercase(),
        threshold: verdict.threshold.to_string(),
        needed: verdict.needed,
        quorum: verdict.quorum,
        approvals: verdict.votes.approvals,
        rejections: verdict.votes.rejections,
        abstentions: verdict.votes.abstentions,
        missing: verdict.votes.missing,
        members,
        key_issues: verdict
            .key_issues
            .iter()
            .map(|issue| Issue { text: issue.text.clone(), count: issue.count })
            .collect(),
    }
}

fn why_missing(member: &crate::verdict::TaskMember) -> String {
    if member.state == crate::session::slot::SlotState::Completed {
        let reason = member.repair.as_ref().and_then(|repair| repair.missing).or(member.missing);
        reason.map_or_else(|| "no vote".to_owned(), |reason| reason.describe().to_owned())
    } else {
        format!("it did not answer ({})", member.state.as_str())
    }
}

const fn word(verdict: VoteVerdict) -> &'static str {
    match verdict {
        VoteVerdict::Approve => "approve",
        VoteVerdict::Reject => "reject",
        VoteVerdict::Abstain => "abstain",
    }
}
