//! The first thing to read: who won, or why there is nothing to tell yet and what to do about it.

use super::model::{Headline, Standing};
use super::review::Reviewed;
use crate::findings::{ReviewDecision, ReviewVerdict, Seats};
use crate::ids::FormatVersion;
use crate::session::slot::SlotState;
use crate::session::{SessionState, View};
use crate::verdict::{Names, TaskDecision, TaskVerdict, Verdict, banner, summary, task_summary};

/// Of a session with a verdict.
///
/// `judged_again` says whether a later round has no verdict yet.
pub(super) fn of_verdict(verdict: &Verdict, names: &Names, judged_again: bool) -> Headline {
    // The banner has its own place.
    let banner = banner(verdict);
    let line = summary(verdict, names);
    let line = match &banner {
        Some(banner) => line.trim_end_matches(&format!(" [{banner}]")).to_owned(),
        None => line,
    };
    Headline {
        first: Vec::new(),
        standing: if verdict.winner.is_some() { Standing::Won } else { Standing::Undecided },
        line: capitalized(&line),
        banner: banner.map(|banner| capitalized(&banner)),
        sentence: match judged_again {
            true => format!("{} A later round has no verdict yet.", verdict.conclusion.sentence),
            false => verdict.conclusion.sentence.clone(),
        },
    }
}

/// Of a vote on a task.
pub(super) fn of_task(verdict: &TaskVerdict) -> Headline {
    let missing = verdict.votes.missing;
    Headline {
        first: Vec::new(),
        standing: if verdict.decision == TaskDecision::Approved { Standing::Won } else { Standing::Undecided },
        line: task_summary(verdict),
        banner: (missing > 0)
            .then(|| format!("Partial panel: {missing} of {} members without a vote", verdict.votes.panel)),
        sentence: "It is the vote of this panel on this text: nothing follows for other texts.".to_owned(),
    }
}

/// Of a review, or of a fix, whose last review it is.
pub(super) fn of_review(verdict: &ReviewVerdict) -> Headline {
    let Seats { panel, usable, .. } = verdict.seats;
    Headline {
        first: Vec::new(),
        standing: if verdict.decision == ReviewDecision::Passed { Standing::Won } else { Standing::Undecided },
        line: capitalized(&verdict.sentence),
        banner: (usable < panel)
            .then(|| format!("Partial panel: {} of {panel} reviewers without a review", panel.saturating_sub(usable))),
        sentence: "The findings are below, with the votes on each.".to_owned(),
    }
}

/// With what a review or a fix has to say first besides: why a fix ended and what is to be done now.
pub(super) fn with_review(headline: Headline, view: &View, reviewed: &Reviewed) -> Headline {
    let repairs = reviewed.repairs.as_ref();
    let mut sentences: Vec<String> = Vec::new();
    sentences.extend(repairs.and_then(|repairs| repairs.why.clone()));
    if reviewed.decided {
        sentences.push(headline.sentence);
        return Headline { sentence: sentences.join(" "), ..headline };
    }
    // What there is of a verdict cannot be shown.
    if view.status.state == SessionState::Completed {
        return headline;
    }
    let count = match reviewed.count() + reviewed.left_out {
        0 => "Nothing is on record yet".to_owned(),
        1 => "One finding is on record".to_owned(),
        count => format!("{count} findings are on record"),
    };
    let (line, next) = match view.state() {
        SessionState::AwaitingDecision => {
            ("No verdict yet: a person has to decide", "What is to be decided is below; `team respond` answers.")
        }
        SessionState::InProgress | SessionState::Closing => {
            ("No verdict yet: the work goes on", "`team status --watch` shows how far it is.")
        }
        SessionState::Failed => ("No verdict: it failed", "`team resume --failed` asks again who failed."),
        SessionState::Cancelled => ("No verdict: it was stopped", "`team resume` goes on with it."),
        SessionState::Interrupted | SessionState::Completed => {
            ("No verdict: the process that ran it died", "`team resume` goes on with it; what is complete is kept.")
        }
    };
    sentences.push(next.to_owned());
    sentences.push("Until the verdict this report names no model, and does not say who found what.".to_owned());
    Headline { line: format!("{line}. {count}"), sentence: sentences.join(" "), ..headline }
}

/// Of a gate's vote: `notes` are what it told of the change. What it came to besides the vote (a person must look, the
/// commit is no longer there) is not on record, so nothing here says that it passed.
pub(super) fn of_gate(verdict: &TaskVerdict, notes: Vec<String>) -> Headline {
    let vote = of_task(verdict);
    Headline {
        first: notes,
        standing: Standing::Undecided,
        line: format!("The panel's vote is {}", vote.line),
        sentence: "Whether the gate passed is told by the gate's own report: it may want a person to look, or a newer \
                   commit may be there. The vote is that of this panel on this change."
            .to_owned(),
        ..vote
    }
}

/// Of the review that a gate asked for, likewise.
pub(super) fn of_reviewing_gate(verdict: &ReviewVerdict, notes: Vec<String>) -> Headline {
    let review = of_review(verdict);
    Headline {
        first: notes,
        standing: Standing::Undecided,
        line: format!("The panel's review: {}", verdict.sentence),
        sentence: format!(
            "Whether the gate passed is told by the gate's own report: it may want a person to look, or a newer commit \
             may be there. {}",
            review.sentence
        ),
        ..review
    }
}

/// Of one without.
pub(super) fn of_open(view: &View) -> Headline {
    let (completed, all) = (view.status.count(SlotState::Completed), view.status.models.len());
    let judged = view.round.is_some();
    let (line, sentence) = match (view.state(), judged) {
        (SessionState::InProgress | SessionState::Closing, false) => {
            ("No verdict yet: the slots are at work", "`team status --watch` shows how far they are.")
        }
        (SessionState::InProgress | SessionState::Closing, true) => {
            ("No verdict yet: the judges are at work", "`team status --watch` shows how far they are.")
        }
        (SessionState::Completed, false) => ("Not judged", "`team judge` has the answers judged."),
        (SessionState::Completed, true) => ("Judged without a verdict", "`team judge` has the answers judged anew."),
        (SessionState::Failed, _) => ("No verdict: the run failed", "`team resume --failed` asks again who failed."),
        (SessionState::Cancelled, _) => ("No verdict: the run was stopped", "`team resume` goes on with it."),
        (SessionState::Interrupted, _) => {
            ("No verdict: the process that ran it died", "`team resume` goes on with it; what is complete is kept.")
        }
        (SessionState::AwaitingDecision, _) => {
            ("No verdict yet: a person has to decide", "`team status` says on what.")
        }
    };
    Headline {
        first: Vec::new(),
        standing: Standing::Open,
        line: format!("{line}. {completed} of {all} answers are complete"),
        banner: None,
        sentence: format!("{sentence} Until the verdict this report names no model."),
    }
}

/// Of one whose verdict is not the one on record.
pub(super) fn of_changed() -> Headline {
    Headline {
        first: Vec::new(),
        standing: Standing::Open,
        line: "The verdict is not as it was recorded, so it is not shown".to_owned(),
        banner: None,
        sentence: "See Integrity below; `team verify` names what differs.".to_owned(),
    }
}

/// Of one whose verdict a newer program wrote.
pub(super) fn of_newer(version: FormatVersion) -> Headline {
    Headline {
        first: Vec::new(),
        standing: Standing::Open,
        line: format!("The verdict has version {}, which this program does not know", version.0),
        banner: None,
        sentence: "A newer `team` reads it.".to_owned(),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
