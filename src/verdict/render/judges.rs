//! What is to know about the judges: flips, a lean to a place.

use crate::config::Passes;
use crate::verdict::{JudgeRecord, LeanMethod, Verdict};

use super::Names;

/// The table of the judges; left out where there is neither a flip to count nor a lean to see.
pub(super) fn judges(verdict: &Verdict, names: &Names) -> Option<String> {
    // Places in prompts of elsewhere are not known.
    if verdict.imported.is_some() {
        return None;
    }
    let two = verdict.passes == Passes::Two;
    if !two && verdict.judges.iter().all(|judge| judge.lean.is_none()) {
        return None;
    }
    let explained = if two {
        "Each judge was asked twice, the second time in reverse order. A flip is an answer on which the two differ; it is \
         no vote. The lean is from -1 to 1: of the answers approved in one order and rejected in the other (N), 1 when all \
         were approved at their earlier place (sign test)."
    } else {
        "The lean to a place is from -1 to 1: 1 when everything approved stood before everything rejected (rank-biserial \
         correlation of N votes, exact rank-sum test). What stood early may also have been better; `--passes 2` tells \
         the two apart."
    };
    let mut text = format!(
        "## Judges\n\n{explained}\n\n| Judge | Model | Approve | Reject |{} Lean | N | p |\n\
         | :--- | :--- | ---: | ---: |{} ---: | ---: | ---: |",
        if two { " Flips |" } else { "" },
        if two { " ---: |" } else { "" },
    );
    for judge in &verdict.judges {
        text.push_str(&format!(
            "\n| {} | {} | {} | {} |",
            judge.judge,
            names.judge(judge.judge),
            judge.approvals,
            judge.rejections
        ));
        if two {
            text.push_str(&format!(" {} |", judge.flips.map_or_else(|| "-".to_owned(), |flips| flips.to_string())));
        }
        text.push_str(&lean(judge));
    }
    Some(text)
}

fn lean(judge: &JudgeRecord) -> String {
    let Some(lean) = judge.lean else { return " - | - | - |".to_owned() };
    let p = match (lean.p, lean.method) {
        (Some(p), LeanMethod::RankSum | LeanMethod::SignTest) => format!("{p:.2}"),
        (None, _) => "-".to_owned(),
    };
    format!(" {:.2} | {} | {p} |", lean.effect, lean.n)
}
