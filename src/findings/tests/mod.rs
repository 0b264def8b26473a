//! Tests of more than one file.

mod ledger;
mod merging;
mod prompting;
mod reading;
mod rules;
mod voting;

use super::{Action, Finding, Severity};
use crate::ids::SlotId;

fn slot(number: u16) -> SlotId {
    format!("{number:02}").parse().unwrap()
}

fn finding(title: &str, description: &str) -> Finding {
    Finding {
        severity: Severity::High,
        action: Action::AutoFix,
        file: None,
        lines: None,
        title: title.to_owned(),
        description: description.to_owned(),
        evidence: String::new(),
        suggestion: String::new(),
    }
}
