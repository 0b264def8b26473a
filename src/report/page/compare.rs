//! Which lines two answers share, for every pair of a report that there is room for.

use std::collections::{HashMap, HashSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::ids::SlotId;

/// Answers of more lines than these are compared in their first ones.
pub(super) const MOST_LINES: usize = 4000;

/// How much is compared: of each pair the product of its lines that both sides have. Beyond it pairs are left out, those
/// of the highest ranks last.
const MOST_WORK: usize = 400_000_000;

/// How many shared stretches are kept over all pairs.
const MOST_RUNS: usize = 250_000;

/// Lines that two answers share: where a stretch begins in the first, where in the second, how many lines.
pub(super) type Run = [usize; 3];

/// A pair that was compared.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) first: SlotId,
    pub(super) second: SlotId,
    pub(super) runs: Vec<Run>,
}

/// The lines of an answer as the browser has them too: by line feeds, the last one ending no further line.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take(MOST_LINES)
}

/// Compares every two of `answers`, in their order.
pub(super) fn pairs(answers: &[(SlotId, &str)]) -> Vec<Pair> {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let numbered: Vec<Vec<u32>> = answers
        .iter()
        .map(|(_, text)| {
            let number = |line| {
                let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                *known.entry(line).or_insert(next)
            };
            lines(text).map(number).collect()
        })
        .collect();
    let sets: Vec<HashSet<u32>> = numbered.iter().map(|lines| lines.iter().copied().collect()).collect();
    let (mut work, mut kept) = (0_usize, 0_usize);
    let mut pairs = Vec::new();
    for second in 1..answers.len() {
        for first in 0..second {
            // What the other side does not have at all is no part of the search.
            let common = |side: usize, other: usize| -> Vec<(usize, u32)> {
                let lines = numbered[side].iter().copied().enumerate();
                lines.filter(|(_, line)| sets[other].contains(line)).collect()
            };
            let (a, b) = (common(first, second), common(second, first));
            work = work.saturating_add(a.len().saturating_mul(b.len()));
            if work > MOST_WORK || kept > MOST_RUNS {
                return pairs;
            }
            let runs = runs(&a, &b);
            kept += runs.len();
            pairs.push(Pair { first: answers[first].0, second: answers[second].0, runs });
        }
    }
    pairs
}

/// The stretches that are the same on both sides; each side is lines with their places.
fn runs(a: &[(usize, u32)], b: &[(usize, u32)]) -> Vec<Run> {
    let of = |side: &[(usize, u32)]| -> Vec<u32> { side.iter().map(|(_, line)| *line).collect() };
    let mut runs: Vec<Run> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &of(a), &of(b)) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        for step in 0..len {
            let (x, y) = (a[old_index + step].0, b[new_index + step].0);
            match runs.last_mut() {
                Some(last) if last[0] + last[2] == x && last[1] + last[2] == y => last[2] += 1,
                _ => runs.push([x, y, 1]),
            }
        }
    }
    runs
}

/// What the script reads: `{"01 02": [[0, 0, 3], ..], ..}`. Digits and brackets only.
pub(super) fn json(pairs: &[Pair]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|pair| {
            let runs: Vec<String> = pair.runs.iter().map(|[a, b, count]| format!("[{a},{b},{count}]")).collect();
            format!("\"{} {}\":[{}]", pair.first, pair.second, runs.join(","))
        })
        .collect();
    format!("{{{}}}", pairs.join(",\n"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compare(texts: &[&str]) -> Vec<Vec<Run>> {
        let answers: Vec<(SlotId, &str)> = SlotId::panel(texts.len()).zip(texts.iter().copied()).collect();
        pairs(&answers).into_iter().map(|pair| pair.runs).collect()
    }

    #[test]
    fn shared_lines_are_found_between_others() {
        assert_eq!(compare(&["a\nb\nc\nd\n", "x\na\nb\ny\nd\n"]), [vec![[0, 1, 2], [3, 4, 1]]]);
        assert_eq!(compare(&["a\n", "b\n"]), [Vec::<Run>::new()]);
        assert_eq!(compare(&["same\ntext", "same\ntext\n"]), [vec![[0, 0, 2]]]);
        assert_eq!(compare(&["a\r\nb\r\n", "a\nb\n"]), [vec![[0, 0, 2]]]);
    }

    #[test]
    fn every_two_answers_are_compared_within_the_limits() {
        let text: String = (0..50).map(|n| format!("line {n}\n")).collect();
        assert_eq!(compare(&vec![text.as_str(); 60]).len(), 60 * 59 / 2);
        let long: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        assert_eq!(compare(&[&long, &long]), [vec![[0, 0, MOST_LINES]]]);
        // Every pair costs 16 million: the first 25 are there, those of the first answers among them.
        let compared = compare(&vec![long.as_str(); 60]);
        assert_eq!(compared.len(), 25);
    }

    #[test]
    fn what_the_script_reads_is_json() {
        let answers: Vec<(SlotId, &str)> = SlotId::panel(3).zip(["a\nb", "b", "c"]).collect();
        let value: serde_json::Value = serde_json::from_str(&json(&pairs(&answers))).unwrap();
        assert_eq!(value, serde_json::json!({"01 02": [[1, 0, 1]], "01 03": [], "02 03": []}));
    }

    proptest! {
        #[test]
        fn what_is_called_shared_is_the_same_and_in_order(a in "[abc\n]{0,60}", b in "[abc\n]{0,60}") {
            let (mut x, mut y) = (0, 0);
            let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
            let (left, right) = (lines(&a), lines(&b));
            for [from, to, count] in compare(&[&a, &b]).remove(0) {
                prop_assert!(from >= x && to >= y && count > 0);
                prop_assert_eq!(&left[from..from + count], &right[to..to + count]);
                (x, y) = (from + count, to + count);
            }
        }
    }
}
