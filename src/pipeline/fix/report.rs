//! `report.md` of a fix, and the page of what a person is to decide. Texts of models stand in code spans or are cut to
//! plain words: nothing in them is markup.

use super::place::Place;
use super::progress::{Progress, RoundEnd};
use super::request::FixPlan;
use super::stop::StopReason;
use crate::findings::{FindingId, FindingRecord, FindingState, Findings, ReviewVerdict};
use crate::pipeline::coverage;
use crate::pipeline::markdown::{code, sentence};
use crate::report::ci::{OmissionReason, SeenFile};
use crate::session::{
    AttemptEnd, BRANCH_COMMANDS_DO, GivenUp, Layout, ReviewExtent, branch_begin_told, branch_commands,
};
use crate::verdict::{inline_commands, inline_markdown};

/// What the report is made from.
pub(super) struct Report<'a> {
    pub(super) session: &'a str,
    pub(super) plan: &'a FixPlan,
    pub(super) progress: &'a Progress,
    pub(super) findings: &'a Findings,
    pub(super) verdict: &'a ReviewVerdict,
    pub(super) reason: StopReason,
    /// What people decided, in order, in words.
    pub(super) decisions: &'a [String],
    /// Who reviewed, voted and repaired: a line for each panel.
    pub(super) members: &'a [String],
    /// How the conversations went: a line for each seat, with its own.
    pub(super) conversations: &'a [(String, Vec<String>)],
    /// What a reader should know besides.
    pub(super) notes: &'a [String],
    /// What was spent, in words.
    pub(super) spent: &'a str,
    /// What of the change the reviews looked at, and what not.
    pub(super) files: &'a [SeenFile],
}

/// How much of the change nobody has looked at, where somebody should have; `None` where that is nothing.
pub(super) fn unseen_told(files: &[SeenFile]) -> Option<String> {
    let is_unseen = |file: &&SeenFile| file.omitted.is_some_and(|reason| reason != OmissionReason::Ignored);
    let unseen = files.iter().filter(is_unseen).count();
    (unseen > 0).then(|| format!("No reviewer was sent {unseen} of {} files of the change", files.len()))
}

/// The most characters of a text of somebody else's.
const LONGEST: usize = 4000;

/// A text of somebody else's in one line without markup.
fn plain(text: &str) -> String {
    inline_markdown(text, LONGEST)
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn row(record: &FindingRecord) -> String {
    let place = record.finding.place().map_or_else(|| "-".to_owned(), |place| code(&place));
    format!(
        "| {} | {} | {} | {place} | {} |\n",
        record.id,
        record.finding.severity,
        record.state,
        plain(&record.finding.title)
    )
}

const HEAD: &str = "| Finding | Severity | State | Where | What |\n| --- | --- | --- | --- | --- |\n";

impl Report<'_> {
    /// The text.
    pub(super) fn text(&self) -> String {
        let mut text = format!("# Fix of {}\n\n{}\n\n", inline_commands(&self.plan.review.told), self.reason);
        text.push_str(&format!("{}.\n\n", sentence(&plain(&said_of(self.verdict, self.findings)))));
        if let Some(told) = unseen_told(self.files) {
            text.push_str(&format!("{told}; the end of this report names them.\n\n"));
        }
        self.result(&mut text);
        self.rounds(&mut text);
        self.table(&mut text);
        self.caused(&mut text);
        if !self.decisions.is_empty() {
            text.push_str("## Decisions\n\n");
            for decision in self.decisions {
                text.push_str(&format!("- {}\n", plain(decision)));
            }
            text.push('\n');
        }
        if !self.members.is_empty() {
            text.push_str("## Who took part\n\n");
            self.members.iter().for_each(|line| text.push_str(&format!("- {}\n", plain(line))));
            text.push('\n');
        }
        if !self.conversations.is_empty() {
            text.push_str("## Conversations\n\n");
            for (seat, strayed) in self.conversations {
                text.push_str(&format!("- {}\n", plain(seat)));
                strayed.iter().for_each(|line| text.push_str(&format!("  - {}\n", plain(line))));
            }
            text.push('\n');
        }
        if !self.notes.is_empty() {
            text.push_str("## Notes\n\n");
            for note in self.notes {
                text.push_str(&format!("- {}\n", sentence(&inline_commands(note))));
            }
            text.push('\n');
        }
        let coverage = coverage(self.files);
        if !coverage.is_empty() {
            text.push_str(&coverage);
            text.push('\n');
        }
        self.files(&mut text);
        text.push_str(&format!("## Record\n\n- session: `{}`\n- {}\n", self.session, self.spent));
        text
    }

    /// What else there is to read in the session's folder.
    fn files(&self, text: &mut String) {
        text.push_str("## Files\n\n");
        for review in &self.progress.reviews {
            let folder = Place::review(review.number).folder();
            let what = match review.extent {
                ReviewExtent::Full => "all of the change",
                ReviewExtent::Delta => "what a repair changed",
            };
            let file = format!("{folder}/{}", Layout::CONSOLIDATED);
            text.push_str(&format!(
                "- [`{file}`]({file}): review {} of {what}, at {}; {} open at the bar after it\n",
                review.number,
                short(&review.commit),
                review.open
            ));
        }
        let ledger = Layout::LEDGER;
        text.push_str(&format!("- [`{ledger}`]({ledger}): what became of each finding, line by line\n\n"));
    }

    fn result(&self, text: &mut String) {
        text.push_str("## Result\n\n");
        let commits = self.progress.commits();
        let Some((branch, commit)) = &self.progress.published else {
            let why = match (commits.is_empty(), self.reason) {
                (true, _) => "No repair was committed, so there is no branch.",
                (false, StopReason::Aborted) => {
                    "There is no branch, as was decided. The commits are kept in `repository/` of the session."
                }
                (false, _) => "The commits are kept in `repository/` of the session.",
            };
            text.push_str(&format!("{why} Your work tree, index and branches are as they were.\n\n"));
            return;
        };
        let begin = self.progress.begun.as_ref().map_or("", |(_, head)| head);
        text.push_str(&format!(
            "Branch `{branch}` at {} has {}. Nothing was pushed, and your work tree, index and other branches are as they \
             were.\n\n",
            short(commit),
            match commits.len() {
                1 => "one commit".to_owned(),
                count => format!("{count} commits"),
            }
        ));
        let kind = self.plan.fix.begins(begin);
        if let Some(told) = branch_begin_told(kind) {
            text.push_str(&format!("{told}\n\n"));
        }
        text.push_str("```sh\n");
        for (line, what) in branch_commands(branch, begin, kind).iter().zip(BRANCH_COMMANDS_DO) {
            text.push_str(&format!("{line}   # {what}\n"));
        }
        text.push_str("```\n\n");
    }

    fn rounds(&self, text: &mut String) {
        if self.progress.rounds.is_empty() {
            return;
        }
        text.push_str("## Rounds\n\n");
        for round in &self.progress.rounds {
            let end = match &round.end {
                Some(RoundEnd::Committed { commit, findings }) => {
                    format!("commit {} for {}", short(commit), findings.join(", "))
                }
                Some(RoundEnd::GivenUp(GivenUp::Nothing)) => "nothing was changed".to_owned(),
                Some(RoundEnd::GivenUp(GivenUp::Refused)) => "no result that counts".to_owned(),
                None => "not finished".to_owned(),
            };
            text.push_str(&format!("- Round {}: {end}\n", round.number));
            for (number, attempt) in (1..).zip(&round.attempts) {
                for line in told(attempt) {
                    text.push_str(&format!("  - attempt {number}: {}\n", inline_commands(&line)));
                }
            }
            round.touched.iter().for_each(|what| text.push_str(&format!("  - {}\n", plain(what))));
        }
        if self.plan.fix.checks().is_empty() {
            text.push_str("\nNo check is configured (`[fix]` `test` and `lint`), so nothing but the reviews says that it works.\n");
        }
        text.push('\n');
    }

    fn table(&self, text: &mut String) {
        if self.findings.iter().next().is_none() {
            return;
        }
        text.push_str("## Findings\n\n");
        text.push_str(HEAD);
        self.findings.iter().for_each(|record| text.push_str(&row(record)));
        text.push('\n');
    }

    fn caused(&self, text: &mut String) {
        let caused: Vec<&FindingRecord> = self.findings.iter().filter(|record| record.caused_by.is_some()).collect();
        if caused.is_empty() {
            return;
        }
        text.push_str("## Caused by the repairs themselves\n\n| Finding | Commit | State | Where | What |\n| --- | --- | --- | --- | --- |\n");
        for record in caused {
            let place = record.finding.place().map_or_else(|| "-".to_owned(), |place| code(&place));
            let commit = record.caused_by.as_deref().map(short).unwrap_or_default();
            let title = plain(&record.finding.title);
            text.push_str(&format!("| {} | {commit} | {} | {place} | {title} |\n", record.id, record.state));
        }
        text.push('\n');
    }
}

/// An attempt in words.
pub(super) fn told(attempt: &AttemptEnd) -> Vec<String> {
    match attempt {
        AttemptEnd::Nothing => vec!["nothing was changed".to_owned()],
        AttemptEnd::Failed { why } => vec![why.clone()],
        AttemptEnd::Flawed { flaws } => flaws.clone(),
        AttemptEnd::Unsound { checks } => checks.clone(),
        AttemptEnd::Sound { checks, .. } if checks.is_empty() => vec!["sound".to_owned()],
        AttemptEnd::Sound { checks, .. } => checks.clone(),
    }
}

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Findings that nobody else may decide.
    Findings,
    /// More rounds would not help.
    Plateau,
    /// No result of the fixer counts.
    Refused,
}

impl Asked {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Plateau => "plateau",
            Self::Refused => "refused",
        }
    }
}

/// The page of what is to be decided.
pub(super) fn page(called: &str, why: Asked, ids: &[FindingId], findings: &Findings, progress: &Progress) -> String {
    let mut text = String::from("# A decision is needed\n\n");
    text.push_str(match why {
        Asked::Findings => "These findings are in the way, and no repair of them may be made without you.\n\n",
        Asked::Plateau => "For two rounds the open findings did not become fewer. These are open.\n\n",
        Asked::Refused => "No result of the fixer counts: what it did was refused, or did not pass the checks.\n\n",
    });
    if let (Asked::Refused, Some(round)) = (why, progress.rounds.last()) {
        for (number, attempt) in (1..).zip(&round.attempts) {
            for line in told(attempt) {
                text.push_str(&format!("- attempt {number}: {}\n", plain(&line)));
            }
        }
        round.touched.iter().for_each(|what| text.push_str(&format!("- {}\n", plain(what))));
        text.push('\n');
    }
    for record in ids.iter().filter_map(|id| findings.get(*id)) {
        let finding = &record.finding;
        let place = finding.place().map(|place| format!(" at {}", plain(&place))).unwrap_or_default();
        text.push_str(&format!(
            "## {} ({}, {}){place}: {}\n\n",
            record.id,
            finding.severity,
            record.state,
            plain(&finding.title)
        ));
        for (what, words) in
            [("", &finding.description), ("Evidence: ", &finding.evidence), ("Suggestion: ", &finding.suggestion)]
        {
            if !words.trim().is_empty() {
                text.push_str(&format!("{what}{}\n\n", plain(words)));
            }
        }
    }
    let some = ids.first().map_or_else(|| "F01".to_owned(), ToString::to_string);
    text.push_str(&format!(
        "## Answer\n\n```sh\nteam respond {called} --fix {some}                # have it repaired; `--note TEXT` tells the fixer how\n\
         team respond {called} --decline {some} --note WHY   # leave it as it is, for good\nteam respond {called} --approve   \
         # take what there is\nteam respond {called} --skip      # end here, and leave the rest open\nteam respond {called} \
         --abort     # end here, and take nothing\n```\n"
    ));
    text
}

/// The sentence of the verdict. It rests on what is open, and what was mended or declined was found all the same.
pub(super) fn said_of(verdict: &ReviewVerdict, findings: &Findings) -> String {
    let is_none_open = verdict.findings.is_empty() && findings.iter().next().is_some();
    let told = if is_none_open { "nothing that was found is open" } else { "nothing was found" };
    verdict.sentence.replacen("nothing was found", told, 1)
}

/// How many findings are mended.
pub(super) fn mended(findings: &Findings) -> usize {
    findings.iter().filter(|record| record.state == FindingState::Verified).count()
}
