//! What tells a finding from others over all runs: neither its id, nor lines, nor votes, which the next run may have otherwise.

use std::collections::BTreeMap;

use super::Finding;
use super::likeness::title_words;
use crate::ids::Sha256Hash;

/// The fingerprint of each of `findings`, in their order: made of the file and the words of the title, in any order. Of
/// several that are the same in that, each has a number more, by lines.
#[must_use]
pub fn fingerprints(findings: &[&Finding]) -> Vec<Sha256Hash> {
    let base = |finding: &Finding| {
        let words: Vec<String> = title_words(finding).into_iter().collect();
        format!("team finding 1\0{}\0{}", finding.file.as_deref().unwrap_or_default(), words.join(" "))
    };
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|at| (findings[*at].lines, findings[*at]));
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut prints: BTreeMap<usize, Sha256Hash> = BTreeMap::new();
    for at in order {
        let base = base(findings[at]);
        let before = seen.entry(base.clone()).or_default();
        let text = if *before == 0 { base } else { format!("{base}\0{before}") };
        *before += 1;
        prints.insert(at, Sha256Hash::of(text.as_bytes()));
    }
    prints.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Action, Lines, Severity};

    fn finding(title: &str, file: &str, line: u32) -> Finding {
        Finding {
            severity: Severity::High,
            action: Action::AutoFix,
            file: Some(file.to_owned()),
            lines: Lines::new(line, line),
            title: title.to_owned(),
            description: String::new(),
            evidence: String::new(),
            suggestion: String::new(),
        }
    }

    #[test]
    fn it_stays_when_lines_severity_and_the_order_of_words_change_and_not_when_the_place_does() {
        let print = |finding: &Finding| fingerprints(&[finding])[0];
        let one = finding("Connection leaks on the error path", "src/db.rs", 4);
        let moved =
            Finding { severity: Severity::Low, ..finding("On an error path, the connection leaks", "src/db.rs", 90) };
        assert_eq!(print(&one), print(&moved));
        assert_ne!(print(&one), print(&finding("Connection leaks on the error path", "src/other.rs", 4)));
        assert_ne!(print(&one), print(&finding("Connection is closed twice", "src/db.rs", 4)));
    }

    #[test]
    fn no_two_of_one_run_are_the_same_whatever_their_order() {
        let findings = [finding("Leak", "a", 30), finding("Leak", "a", 10), finding("Leak", "b", 1)];
        let [first, second, third] = &findings;
        let prints = fingerprints(&[first, second, third]);
        assert_eq!(prints.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
        assert_eq!(fingerprints(&[second, third, first]), [prints[1], prints[2], prints[0]]);
        assert_eq!(prints[1], fingerprints(&[second])[0], "the first of them is as if it were alone");
    }
}
