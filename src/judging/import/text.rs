//! Texts of judges, read by a pattern that the user states.

use regex::{Captures, Regex};

use super::names::{NamedBy, shortened};
use super::{AnswerNames, ImportError, ImportedJudge};
use crate::judging::ballot::{Confidence, stated_confidence, stated_verdict};
use crate::judging::{CastVote, PairVote, PairWinner};
use crate::session::slot::SlotState;

/// The groups that a pattern may name.
const GROUPS: [&str; 8] = ["judge", "answer", "verdict", "confidence", "summary", "a", "b", "winner"];

/// What each match of a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A vote on one answer.
    Vote,
    /// A judgement of two.
    Pair,
}

impl Kind {
    /// What a match calls the answers that it is about.
    fn names_in<'t>(self, found: &Captures<'t>) -> impl Iterator<Item = &'t str> {
        let groups: &[&str] = match self {
            Self::Vote => &["answer"],
            Self::Pair => &["a", "b"],
        };
        groups.iter().map(|name| group(found, name))
    }
}

/// A pattern whose every match is one judgement.
#[derive(Debug, Clone)]
pub struct ImportPattern {
    regex: Regex,
    kind: Kind,
}

/// A pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternProblem {
    /// It is not a regular expression.
    #[error("`{pattern}` is not a regular expression: {problem}")]
    Syntax {
        /// What was given.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Its groups say neither a vote nor a judgement of two.
    #[error(
        "the pattern must name the groups `answer` and `verdict` (a vote on one answer), or `a`, `b` and `winner` (two \
         answers against each other); `judge`, `confidence` and `summary` may be there as well{found}"
    )]
    Groups {
        /// What it names instead.
        found: String,
    },
}

impl ImportPattern {
    /// Compiles `text`. `^` and `$` are the beginning and the end of a line.
    ///
    /// # Errors
    /// It is not a regular expression, or its groups are not the ones that say what a match is.
    pub fn new(text: &str) -> Result<Self, PatternProblem> {
        let regex =
            regex::RegexBuilder::new(text).multi_line(true).build().map_err(|error| PatternProblem::Syntax {
                pattern: text.to_owned(),
                problem: error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
            })?;
        let named: Vec<&str> = regex.capture_names().flatten().collect();
        let has = |name: &str| named.contains(&name);
        let unknown: Vec<&str> = named.iter().copied().filter(|name| !GROUPS.contains(name)).collect();
        let kind = match (has("answer") && has("verdict"), has("a") && has("b") && has("winner")) {
            (true, false) if unknown.is_empty() => Kind::Vote,
            (false, true) if unknown.is_empty() => Kind::Pair,
            _ => {
                let found =
                    if named.is_empty() { String::new() } else { format!("; it names `{}`", named.join("`, `")) };
                return Err(PatternProblem::Groups { found });
            }
        };
        Ok(Self { regex, kind })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }
}

/// The judges of a text. `file` names it in errors; `default_judge` is who speaks where no group `judge` says so.
///
/// # Errors
/// The text is not UTF-8, the pattern matches nowhere, or a match says something that is no answer of this session, no
/// verdict, or contradicts an earlier one.
pub fn read_text(
    file: &str,
    bytes: &[u8],
    default_judge: &str,
    pattern: &ImportPattern,
    answers: &AnswerNames,
) -> Result<Vec<ImportedJudge>, ImportError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ImportError::new(file, format!("is not UTF-8 at byte {}", error.valid_up_to())))?;
    let mut judges: Vec<ImportedJudge> = Vec::new();
    let mut named: Vec<Option<NamedBy>> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for found in pattern.regex.captures_iter(text) {
        let start = found.get_match().start();
        line += text[counted..start].matches('\n').count();
        counted = start;
        let place = format!("{file}:{line}");
        let name = found.name("judge").map_or(default_judge, |judge| judge.as_str().trim());
        let at = judges.iter().position(|judge| judge.name == name).unwrap_or_else(|| {
            judges.push(silent(name));
            named.push(None);
            judges.len() - 1
        });
        let judge = &mut judges[at];
        let added = pattern.kind.names_in(&found).try_for_each(|answer| NamedBy::of(answer).note(&mut named[at], name));
        added
            .and_then(|()| match pattern.kind {
                Kind::Vote => add_vote(judge, &found, answers),
                Kind::Pair => pair(&found, answers).and_then(|pair| add_pair(judge, pair, group(&found, "a"))),
            })
            .map_err(|what| ImportError::new(place, what))?;
    }
    if judges.is_empty() {
        return Err(ImportError::new(file, format!("the pattern `{}` matches nowhere", pattern.as_str())));
    }
    Ok(judges)
}

/// A judge that has said nothing yet.
fn silent(name: &str) -> ImportedJudge {
    ImportedJudge {
        name: name.to_owned(),
        order: Vec::new(),
        votes: Vec::new(),
        pairs: Vec::new(),
        missing: Vec::new(),
        notes: Vec::new(),
        state: SlotState::Completed,
    }
}

fn group<'t>(found: &Captures<'t>, name: &str) -> &'t str {
    found.name(name).map_or("", |group| group.as_str().trim())
}

fn add_vote(judge: &mut ImportedJudge, found: &Captures<'_>, answers: &AnswerNames) -> Result<(), String> {
    let answer = answers.find(group(found, "answer"))?;
    let said = group(found, "verdict");
    let verdict =
        stated_verdict(said).ok_or_else(|| format!("`{}` is none of APPROVE, REJECT, ABSTAIN", shortened(said)))?;
    let confidence = match found.name("confidence").map(|text| stated_confidence(text.as_str())) {
        Some(Confidence::Exact(value) | Confidence::Adjusted(value)) => Some(value),
        Some(Confidence::None) | None => None,
    };
    let summary = group(found, "summary").to_owned();
    let vote = CastVote { answer, verdict, confidence, summary, key_issues: Vec::new() };
    match judge.votes.iter().find(|earlier| earlier.answer == answer) {
        // The same again says nothing new.
        Some(earlier) if earlier.verdict == verdict => return Ok(()),
        Some(_) => {
            return Err(format!(
                "judge `{}` votes on answer `{}` a second time and otherwise",
                shortened(&judge.name),
                shortened(group(found, "answer"))
            ));
        }
        None => judge.votes.push(vote),
    }
    judge.order.push(answer);
    Ok(())
}

fn pair(found: &Captures<'_>, answers: &AnswerNames) -> Result<PairVote, String> {
    let (a, b) = (group(found, "a"), group(found, "b"));
    let (first, second) = (answers.find(a)?, answers.find(b)?);
    let said = group(found, "winner").trim_matches(|c| matches!(c, '[' | ']' | '(' | '"' | '\'' | '`' | '*'));
    let winner = match said.to_lowercase().trim_end_matches(')') {
        _ if said == a && a != b => PairWinner::First,
        _ if said == b && a != b => PairWinner::Second,
        "a" | "1" | "first" | "model_a" | "model_1" | "assistant_a" | "assistant_1" => PairWinner::First,
        "b" | "2" | "second" | "model_b" | "model_2" | "assistant_b" | "assistant_2" => PairWinner::Second,
        "c" | "tie" | "draw" | "equal" | "both" | "neither" | "tie (bothbad" | "tie (both bad" => PairWinner::Tie,
        _ => {
            let said = shortened(said);
            return Err(format!("`{said}` is no winner: it is the name of one of the two, `A`, `B`, or `tie`"));
        }
    };
    Ok(PairVote { first, second, winner })
}

/// Adds a judgement of two answers, the first of which is called `first`. The same two may be judged more than once, in either order.
pub(super) fn add_pair(judge: &mut ImportedJudge, pair: PairVote, first: &str) -> Result<(), String> {
    if pair.first == pair.second {
        return Err(format!("answer `{}` is compared with itself", shortened(first)));
    }
    if !judge.votes.is_empty() {
        return Err("a judge has either votes on single answers or judgements of two, not both".to_owned());
    }
    for answer in [pair.first, pair.second] {
        if !judge.order.contains(&answer) {
            judge.order.push(answer);
        }
    }
    judge.pairs.push(pair);
    Ok(())
}
