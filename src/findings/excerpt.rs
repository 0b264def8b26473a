//! Lines of files around what findings name, for a judge who cannot look there itself.
//!
//! Bounded in every direction, and left out where what is reviewed shows the lines already.

use std::collections::BTreeMap;

use super::{Finding, FindingId, Lines};

/// So many lines are shown before and behind the named ones.
const AROUND: u32 = 8;
/// The most lines of one excerpt.
const MOST_LINES: u32 = 60;
/// The most characters of one line.
const LONGEST_LINE: usize = 300;
/// The most bytes of all excerpts of a vote.
const MOST_BYTES: usize = 64 * 1024;

/// What stands around the lines that findings name, by finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpts(BTreeMap<FindingId, String>);

impl Excerpts {
    /// Around those lines that `artefact` does not show, of files whose text `read` gives: by id, as far as there is room.
    pub fn of<'a>(
        findings: impl IntoIterator<Item = (FindingId, &'a Finding)>,
        artefact: &str,
        mut read: impl FnMut(&str) -> Option<String>,
    ) -> Self {
        let mut findings: Vec<_> = findings.into_iter().collect();
        findings.sort_by_key(|(id, _)| *id);
        let mut room = MOST_BYTES;
        let mut found = BTreeMap::new();
        for (id, finding) in findings {
            let (Some(file), Some(lines)) = (finding.file.as_deref(), finding.lines) else { continue };
            if shows(artefact, file, lines) {
                continue;
            }
            let Some(excerpt) = read(file).and_then(|text| excerpt(file, &text, lines)) else { continue };
            if let Some(left) = room.checked_sub(excerpt.len()) {
                room = left;
                found.insert(id, excerpt);
            }
        }
        Self(found)
    }

    /// The one of `finding`.
    #[must_use]
    pub fn of_finding(&self, finding: FindingId) -> Option<&str> {
        self.0.get(&finding).map(String::as_str)
    }
}

/// The lines of `text` around `lines`, numbered, under a line with the name of the file; `None` where it has none of them.
fn excerpt(file: &str, text: &str, lines: Lines) -> Option<String> {
    let all = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if lines.start > all {
        return None;
    }
    let first = lines.start.saturating_sub(AROUND).max(1);
    let last = lines.end.saturating_add(AROUND).min(all).min(first.saturating_add(MOST_LINES - 1));
    let mut out = format!("==== {file}, lines {first} to {last} of {all}\n");
    let shown = text.lines().zip(1_u32..).skip_while(|(_, number)| *number < first);
    for (line, number) in shown.take_while(|(_, number)| *number <= last) {
        let cut = line.char_indices().nth(LONGEST_LINE).map(|(at, _)| at);
        let (line, mark) = cut.map_or((line, ""), |at| (&line[..at], " [...]"));
        out.push_str(&format!("{number:>5}  {line}{mark}\n"));
    }
    Some(out)
}

/// Whether `artefact` shows all of `lines` of `file`: a unified diff does as far as its hunks go, on the side of what the
/// change makes of it; a file that is shown whole stands under a line with its name.
fn shows(artefact: &str, file: &str, lines: Lines) -> bool {
    let (mut here, mut next, mut shown_to) = (false, 0_u32, 0_u32);
    for line in artefact.lines() {
        if let Some(name) = line.strip_prefix("==== ") {
            if name == file {
                return true;
            }
        } else if let Some(name) = line.strip_prefix("+++ ") {
            here = name.strip_prefix("b/").unwrap_or(name).trim_end_matches('\t') == file;
        } else if line.starts_with("diff ") {
            here = false;
        } else if !here {
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            next = hunk_start(hunk).unwrap_or(0);
            shown_to = next.saturating_sub(1);
        } else if line.starts_with([' ', '+']) || line.is_empty() {
            if next <= lines.start
                && lines.start <= shown_to.saturating_add(1)
                && shown_to.saturating_add(1) >= lines.end
            {
                return true;
            }
            shown_to = shown_to.saturating_add(1);
        }
    }
    false
}

/// The first line of a hunk on the side of what the change makes: of `-1,7 +2,9 @@`, 2.
fn hunk_start(hunk: &str) -> Option<u32> {
    let side = hunk.split(' ').find_map(|part| part.strip_prefix('+'))?;
    side.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Severity;
    use crate::findings::Action;

    const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -10,3 +10,4 @@ fn a()\n one\n-two\n\
                        +two!\n+more\n three\n@@ -40 +41 @@\n-x\n+y\ndiff --git a/src/b.rs b/src/b.rs\n--- a/src/b.rs\n\
                        +++ b/src/b.rs\n@@ -1 +1 @@\n-p\n+q\n";

    fn lines(start: u32, end: u32) -> Lines {
        Lines::new(start, end).unwrap()
    }

    fn finding(file: &str, named: Lines) -> Finding {
        Finding {
            severity: Severity::High,
            action: Action::AskUser,
            file: Some(file.to_owned()),
            lines: Some(named),
            title: "t".to_owned(),
            description: "d".to_owned(),
            evidence: String::new(),
            suggestion: String::new(),
        }
    }

    #[test]
    fn a_change_shows_the_lines_of_its_hunks_and_a_list_of_files_all_of_theirs() {
        for (file, named, expected) in [
            ("src/a.rs", lines(10, 13), true),
            ("src/a.rs", lines(12, 12), true),
            ("src/a.rs", lines(41, 41), true),
            ("src/a.rs", lines(9, 10), false),
            ("src/a.rs", lines(13, 14), false),
            ("src/a.rs", lines(13, 41), false),
            ("src/a.rs", lines(1, 1), false),
            ("src/b.rs", lines(1, 1), true),
            ("src/b.rs", lines(12, 12), false),
            ("a.rs", lines(12, 12), false),
        ] {
            assert_eq!(shows(DIFF, file, named), expected, "{file} {named}");
        }
        assert!(shows("==== src/a.rs\n    1  x\n", "src/a.rs", lines(7, 7)));
    }

    #[test]
    fn what_is_not_shown_is_cut_out_around_its_lines_and_bounded() {
        let text: String = (1..=200).map(|number| format!("line {number}\n")).collect();
        let id = FindingId::FIRST;
        let of = |found: Finding| {
            let found = Excerpts::of([(id, &found)], DIFF, |file| (file == "src/a.rs").then(|| text.clone()));
            found.of_finding(id).map(str::to_owned)
        };
        let near = of(finding("src/a.rs", lines(100, 101))).unwrap();
        assert!(near.starts_with("==== src/a.rs, lines 92 to 109 of 200\n   92  line 92\n"), "{near}");
        assert!(near.ends_with("  109  line 109\n"), "{near}");
        let first = of(finding("src/a.rs", lines(2, 2))).unwrap();
        assert!(first.starts_with("==== src/a.rs, lines 1 to 10 of 200\n    1  line 1\n"), "{first}");
        assert_eq!(of(finding("src/a.rs", lines(1, 200))).unwrap().lines().count(), 61);
        assert_eq!(of(finding("src/a.rs", lines(201, 201))), None, "there is no such line");
        assert_eq!(of(finding("src/a.rs", lines(12, 12))), None, "the change shows it");
        assert_eq!(of(finding("src/gone.rs", lines(1, 1))), None);
        let long = "x".repeat(1000);
        let cut = excerpt("a", &long, lines(1, 1)).unwrap();
        assert!(cut.len() < 400 && cut.ends_with(" [...]\n"), "{cut}");
    }

    #[test]
    fn there_is_room_for_so_much_and_the_first_findings_have_it() {
        let wide = vec!["y".repeat(290); 100].join("\n");
        let found = finding("src/a.rs", lines(60, 99));
        let ids: Vec<FindingId> =
            std::iter::successors(Some(FindingId::FIRST), |id| Some(id.next())).take(20).collect();
        let excerpts = Excerpts::of(ids.iter().rev().map(|id| (*id, &found)), "", |_| Some(wide.clone()));
        let total: usize = ids.iter().filter_map(|id| excerpts.of_finding(*id)).map(str::len).sum();
        assert!(total <= MOST_BYTES && total > MOST_BYTES / 2, "{total}");
        assert!(excerpts.of_finding(ids[0]).is_some() && excerpts.of_finding(ids[19]).is_none());
    }
}
