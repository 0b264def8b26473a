//! The document as a whole.

use crate::ids::SlotId;
use crate::session::Layout;
use crate::verdict::{Decision, Verdict};

use super::headline::{banner, no_winner, outcome, winner};
use super::{Context, Names, costs, judges, sections};

/// The number of the wording of `verdict.md`, recorded with each verdict. One more whenever what [`render`] writes for
/// the same verdict changes, so that a later program knows which documents it can write again to check them.
pub const RENDERING: u32 = 3;

/// `verdict.md`: for a person in a hurry the first lines suffice.
#[must_use]
pub fn render(verdict: &Verdict, names: &Names, context: &Context) -> String {
    let mut parts = vec![heading(verdict), headline(verdict, names)];
    if let Some(banner) = banner(verdict) {
        parts.push(format!(
            "> **P{}.** What finishes tends to be the faster models, so a partial panel is biased, not only smaller.",
            &banner[1..]
        ));
    }
    parts.push(verdict.conclusion.sentence.clone());
    parts.extend(
        [
            sections::ranking(verdict, names),
            sections::votes(verdict, names),
            sections::agreement(verdict),
            judges::judges(verdict, names),
            sections::dissent(verdict, names),
            sections::key_issues(verdict),
            sections::missing(verdict, names, context),
            costs::costs(names, context),
            sections::conditions(verdict, context),
            sections::verification(verdict, context),
        ]
        .into_iter()
        .flatten(),
    );
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

fn heading(verdict: &Verdict) -> String {
    let kind = match (verdict.decision, verdict.is_partial()) {
        (Decision::Ranking, false) => "# Verdict",
        (Decision::Ranking, true) => "# Verdict of a partial panel",
        (Decision::NoDecision, false) => "# No decision",
        (Decision::NoDecision, true) => "# No decision (partial panel)",
    };
    if verdict.round > 1 { format!("{kind}, round {}", verdict.round) } else { kind.to_owned() }
}

fn headline(verdict: &Verdict, names: &Names) -> String {
    let name = |id: SlotId| names.slot(id);
    match winner(verdict) {
        Some(answer) => {
            let file = Layout::response_name(answer.id);
            let outcome = outcome(verdict, answer, &name);
            format!("**Answer {} wins** ({}): {outcome}. It is in `{file}`.", answer.id, name(answer.id))
        }
        None => format!("**Nobody wins**: {}.", no_winner(verdict, &name)),
    }
}
