//! What reviewers and judges of findings are asked.
//!
//! Everything foreign stands between fences that nobody who wrote it can close, as data; texts never pass through the
//! template engine. What does not fit a bound is left out with words that say so.

use std::collections::BTreeSet;

use minijinja::{Value, context};

use super::contain::{anonymous, harmless, listed};
use super::reading::MOST_FINDINGS;
use super::text;
use super::{BadFindings, Excerpts, Finding, FindingAssignment, FindingId};
use crate::judging::{BallotForm, CopyRules, Nonce, PromptError, fenced, fill_places, place_mark};
use crate::prompts::{PromptName, Prompts};

/// The most characters of one line about what is reviewed.
const LONGEST_ABOUT: usize = 300;
/// The most characters of what a person said about a finding, in a list.
const LONGEST_NOTE: usize = 300;
/// The most entries of a list.
const MOST_LISTED: usize = 100;
/// The most bytes of the list of what was declined: decisions gather over the life of a branch.
const DECLINED_BYTES: usize = 32 * 1024;
/// The most bytes of what is wanted, and of a reply that is shown again.
const LONGEST_INTENT: usize = 64 * 1024;

/// What is reviewed: before it is built, or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReviewPhase {
    /// A plan.
    Plan,
    /// A change.
    Change,
}

impl ReviewPhase {
    /// The name of its panels' folders.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan-review",
            Self::Change => "impl-review",
        }
    }
}

/// What those who are asked can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sight {
    /// The text in the prompt only.
    Prompt,
    /// The repository as well, read-only, where they have tools to read it.
    Snapshot,
}

/// What is reviewed.
#[derive(Debug, Clone, Copy)]
pub struct Artefact<'a> {
    /// The plan or the change.
    pub phase: ReviewPhase,
    /// Which one, in a few words: the file, or the commits. May be empty.
    pub about: &'a str,
    /// The plan's text, or a unified diff.
    pub text: &'a str,
    /// What is wanted, in somebody's words.
    pub intent: Option<&'a str>,
    /// What is a part of it and not shown: a line each, path and reason.
    pub omitted: &'a [String],
    /// What else can be looked at.
    pub sight: Sight,
}

/// A finding of an earlier round that is still open.
#[derive(Debug, Clone, Copy)]
pub struct OpenFinding<'a> {
    /// Its id.
    pub id: FindingId,
    /// What was said of it.
    pub finding: &'a Finding,
    /// What is claimed of it.
    pub claim: Claim,
}

/// What is claimed of an open finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Claim {
    /// That it is there.
    Open,
    /// That it is mended.
    Mended,
}

/// A finding that a person decided to leave.
#[derive(Debug, Clone, Copy)]
pub struct DeclinedFinding<'a> {
    /// Its id; none where it was declined in another session.
    pub id: Option<FindingId>,
    /// What was said of it.
    pub finding: &'a Finding,
    /// Why, in the person's words.
    pub note: Option<&'a str>,
}

/// What a panel of reviewers is asked.
#[derive(Debug, Clone, Copy)]
pub struct ReviewPrompt<'a> {
    /// What is reviewed.
    pub artefact: Artefact<'a>,
    /// What earlier rounds found and is open, the worst first.
    pub open: &'a [OpenFinding<'a>],
    /// What people decided to leave, the newest first.
    pub declined: &'a [DeclinedFinding<'a>],
}

/// The text that every reviewer of a panel receives, agents and models alike.
///
/// # Errors
/// A template is not usable, or does not hold what it is given exactly once.
pub fn review_prompt(prompts: &Prompts, ask: &ReviewPrompt<'_>, nonce: &Nonce) -> Result<String, PromptError> {
    review_text(prompts, PromptName::Review, ask, nonce)
}

/// The text that a reviewer receives who looked at the whole change before, in the same conversation: `ask` is what a repair
/// of it changes.
///
/// # Errors
/// As [`review_prompt`].
pub fn review_again_prompt(prompts: &Prompts, ask: &ReviewPrompt<'_>, nonce: &Nonce) -> Result<String, PromptError> {
    // What is wanted was said in the conversation.
    let artefact = Artefact { intent: None, ..ask.artefact };
    review_text(prompts, PromptName::ReviewAgain, &ReviewPrompt { artefact, ..*ask }, nonce)
}

fn review_text(
    prompts: &Prompts,
    name: PromptName,
    ask: &ReviewPrompt<'_>,
    nonce: &Nonce,
) -> Result<String, PromptError> {
    let artefact = &ask.artefact;
    let mut places = Places::new(nonce);
    places.add_artefact(artefact);
    let open = ask.open.iter().map(|open| {
        let claim = match open.claim {
            Claim::Open => "",
            Claim::Mended => ", said to be mended",
        };
        listed(&open.id.to_string(), open.finding, claim)
    });
    places.add_list("open", open, ask.open.len());
    places.add_declined(ask.declined);
    places.add_list("omitted", artefact.omitted.iter().map(|line| format!("{line}\n")), artefact.omitted.len());
    let format = findings_format(prompts)?;
    let values = context! { format => format, ..about(artefact, &places) };
    places.fill(prompts, name, values)
}

/// How to say what is wrong.
fn findings_format(prompts: &Prompts) -> Result<String, PromptError> {
    let format = prompts.render(PromptName::FindingsFormat, context! { most => MOST_FINDINGS })?;
    Ok(format.trim_end().to_owned())
}

/// The text that a reviewer receives whose reply cannot be read, because of `bad`. Where it goes on with the conversation
/// it knows what it said; else `reply` shows it again.
///
/// # Errors
/// As [`review_prompt`].
pub fn findings_repair_prompt(
    prompts: &Prompts,
    bad: &BadFindings,
    reply: Option<&str>,
    nonce: &Nonce,
) -> Result<String, PromptError> {
    let mut places = Places::new(nonce);
    if let Some(reply) = reply {
        places.add("reply", bounded(reply));
    }
    // Names of fields that a model made up are in it.
    let error = harmless(&bad.to_string());
    let values = context! { error => error.trim_end(), format => findings_format(prompts)?, ..places.marks() };
    places.fill(prompts, PromptName::FindingsRepair, values)
}

/// What a judge of findings is asked.
#[derive(Debug, Clone, Copy)]
pub struct FindingVotePrompt<'a> {
    /// What was reviewed.
    pub artefact: Artefact<'a>,
    /// The findings, those that the judge raised itself among them or not: only what it is assigned is shown.
    pub findings: &'a [(FindingId, &'a Finding)],
    /// What it sees, under which names.
    pub assignment: &'a FindingAssignment,
    /// Those of an earlier round that the change is said to mend.
    pub claimed: &'a BTreeSet<FindingId>,
    /// What people decided to leave, the newest first.
    pub declined: &'a [DeclinedFinding<'a>],
    /// How it is asked to vote.
    pub form: BallotForm,
    /// By what names of authors are taken out of findings.
    pub copy: CopyRules<'a>,
    /// What stands around the lines that findings name; nothing of it where the judge can look itself.
    pub excerpts: &'a Excerpts,
    /// The reply that lacks votes, where the judge is asked once more.
    pub reply: Option<&'a str>,
}

/// What a judge is told of a finding that a repair is said to mend: the text of it is of before.
const CLAIMED: &str = "Found earlier, as below. The change that is shown is said to mend it, and that is what you judge: REJECT if it \
                       is mended, SUSTAIN if any of it is still so, wherever it stands now.\n";

/// The text that one judge of findings receives, or receives once more for what its reply lacks.
///
/// # Errors
/// As [`review_prompt`]; or a finding that is assigned was not given.
pub fn finding_vote_prompt(prompts: &Prompts, ask: &FindingVotePrompt<'_>) -> Result<String, PromptError> {
    let FindingAssignment { judge, shown, nonce } = ask.assignment;
    let mut places = Places::new(nonce);
    places.add_artefact(&ask.artefact);
    let mut findings = Vec::new();
    for (id, alias) in shown {
        let given = ask.findings.iter().find(|(given, _)| given == id);
        let (_, finding) = given.ok_or(PromptError::NoFinding(id.to_string()))?;
        let text = fenced(nonce, &anonymous(finding, *judge, ask.copy));
        let claim = if ask.claimed.contains(id) { CLAIMED } else { "" };
        let mut part = format!("### Finding {alias}\n{claim}{text}");
        if let Some(excerpt) = ask.excerpts.of_finding(*id).filter(|_| ask.artefact.sight == Sight::Prompt) {
            let excerpt = fenced(nonce, &harmless(excerpt));
            part.push_str(&format!("\n\nWhat stands at the place that it names:\n{excerpt}"));
        }
        findings.push(part);
    }
    places.add_made("findings", findings.join("\n\n"));
    // Ids of the session are not for judges, who know findings by names of their own.
    let declined: Vec<DeclinedFinding<'_>> =
        ask.declined.iter().map(|declined| DeclinedFinding { id: None, ..*declined }).collect();
    places.add_declined(&declined);
    let name = match ask.reply {
        Some(reply) => {
            places.add("reply", bounded(reply));
            PromptName::FindingsVoteRepair
        }
        None => PromptName::FindingsVote,
    };
    let aliases: Vec<String> = shown.iter().map(|(_, alias)| alias.to_string()).collect();
    let json = ask.form == BallotForm::Json;
    let values = context! { count => shown.len(), aliases, json, ..about(&ask.artefact, &places) };
    places.fill(prompts, name, values)
}

fn about(artefact: &Artefact<'_>, places: &Places<'_>) -> Value {
    context! {
        plan => artefact.phase == ReviewPhase::Plan,
        snapshot => artefact.sight == Sight::Snapshot,
        about => text::line(artefact.about, LONGEST_ABOUT).text.replace('`', "'"),
        ..places.marks()
    }
}

/// `text` between marks, of a bounded size.
pub(super) fn bounded(text: &str) -> String {
    let cut = text.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_INTENT);
    match cut {
        Some(at) => harmless(&format!("{}\n[... {} bytes are left out here ...]", &text[..at], text.len() - at)),
        None => harmless(text),
    }
}

/// The places of a template and what they are filled with. A place that is not given is absent from the values.
pub(super) struct Places<'a> {
    nonce: &'a Nonce,
    places: Vec<(&'static str, String)>,
}

impl<'a> Places<'a> {
    pub(super) const fn new(nonce: &'a Nonce) -> Self {
        Self { nonce, places: Vec::new() }
    }

    /// A text of somebody else, made harmless already.
    pub(super) fn add(&mut self, place: &'static str, harmless: String) {
        let fenced = fenced(self.nonce, &harmless);
        self.add_made(place, fenced);
    }

    /// A text of ours, with its fences.
    pub(super) fn add_made(&mut self, place: &'static str, text: String) {
        self.places.push((place, text));
    }

    fn add_artefact(&mut self, artefact: &Artefact<'_>) {
        self.add("artefact", harmless(artefact.text));
        self.add_intent(artefact.intent);
    }

    pub(super) fn add_intent(&mut self, intent: Option<&str>) {
        if let Some(intent) = intent.filter(|intent| !intent.trim().is_empty()) {
            self.add("intent", bounded(intent.trim()));
        }
    }

    pub(super) fn add_declined(&mut self, declined: &[DeclinedFinding<'_>]) {
        let lines = declined.iter().map(|declined| {
            let note = declined.note.map(|note| text::line(note, LONGEST_NOTE).text).filter(|note| !note.is_empty());
            let note = note.map(|note| format!("    Decided: {note}\n")).unwrap_or_default();
            let id = declined.id.map_or_else(|| "Earlier".to_owned(), |id| id.to_string());
            listed(&id, declined.finding, "") + &note
        });
        let mut bytes = 0;
        let fit: Vec<String> = lines
            .take_while(|line| {
                bytes += line.len();
                bytes <= DECLINED_BYTES
            })
            .collect();
        self.add_list("declined", fit.into_iter(), declined.len());
    }

    /// A list, cut where it is long, with the number of what is left out.
    fn add_list(&mut self, place: &'static str, entries: impl Iterator<Item = String>, count: usize) {
        if count == 0 {
            return;
        }
        let entries: Vec<String> = entries.take(MOST_LISTED).collect();
        let mut list = entries.concat();
        if count > entries.len() {
            list.push_str(&format!("[... {} more are left out here ...]\n", count - entries.len()));
        }
        self.add(place, harmless(&list));
    }

    /// What the template is given: the code of the fences, and a mark for each place.
    pub(super) fn marks(&self) -> Value {
        const ALL: [&str; 9] =
            ["artefact", "intent", "open", "declined", "omitted", "findings", "reply", "trouble", "contents"];
        // A template that asks for a place that is not given finds nothing in it.
        let mark =
            |name: &&str| self.places.iter().any(|(place, _)| place == name).then(|| place_mark(self.nonce, name));
        let marks = ALL.iter().map(|name| (*name, mark(name)));
        context! { nonce => self.nonce.as_str(), ..Value::from_pairs(marks) }
    }

    pub(super) fn fill(self, prompts: &Prompts, name: PromptName, values: Value) -> Result<String, PromptError> {
        let places: Vec<(&'static str, &str)> =
            self.places.iter().map(|(place, text)| (*place, text.as_str())).collect();
        fill_places(prompts.render(name, values)?, name, self.nonce, &places)
    }
}
