//! Whether two findings are about the same thing, in whole numbers.

use std::collections::BTreeSet;

use super::Finding;

/// Lines of two reviewers that are so far apart at most are the same place: models count lines badly.
const NEAR: u32 = 3;

/// So far may a place move from one round to the next without that more words have to be the same.
const MOVED: u32 = 30;

/// How alike two findings are: by their words, then by how near their places are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Likeness {
    /// Of a thousand.
    words: u32,
    /// Less is farther.
    nearness: u32,
}

/// The words that matter of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    title: BTreeSet<String>,
    all: BTreeSet<String>,
}

impl Words {
    pub(super) fn of(finding: &Finding) -> Self {
        let title = words(&finding.title);
        let all = title.union(&words(&finding.description)).cloned().collect();
        Self { title, all }
    }

    /// How alike the words are, where the titles or all of the text are as alike as asked for, of a thousand.
    fn alike(&self, other: &Self, title: u32, all: u32) -> Option<u32> {
        let (by_title, by_all) = (dice(&self.title, &other.title), dice(&self.all, &other.all));
        (by_title >= title || by_all >= all).then_some(by_title.max(by_all))
    }
}

/// The words that matter of a finding's title.
pub(super) fn title_words(finding: &Finding) -> BTreeSet<String> {
    words(&finding.title)
}

/// Sørensen-Dice coefficient of two sets, of a thousand; two empty sets are not alike.
fn dice(one: &BTreeSet<String>, other: &BTreeSet<String>) -> u32 {
    let all = one.len() + other.len();
    if all == 0 {
        return 0;
    }
    // At most a thousand.
    (2000 * one.intersection(other).count() / all) as u32
}

/// Words that say nothing about what is wrong.
const EMPTY: [&str; 60] = [
    "a", "an", "the", "this", "that", "these", "those", "is", "are", "was", "were", "be", "been", "being", "it", "its",
    "in", "on", "at", "of", "to", "for", "from", "by", "with", "and", "or", "but", "if", "so", "as", "than", "then",
    "when", "where", "which", "who", "what", "will", "would", "can", "could", "may", "might", "should", "does", "do",
    "has", "have", "had", "there", "here", "also", "very", "line", "lines", "code", "function", "method", "file",
];

/// So many characters of a word are compared: what follows is mostly the ending.
const STEM: usize = 6;

fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if word.chars().any(is_unspaced) {
            // Scripts that do not part words: pairs of characters stand for them.
            let chars: Vec<char> = word.chars().collect();
            words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
            continue;
        }
        if EMPTY.contains(&word.as_str()) {
            continue;
        }
        // A name of the code is one thing, whatever it begins with.
        let name = word.contains('_') || word.chars().any(|c| c.is_ascii_digit());
        let end = word.char_indices().nth(STEM).filter(|_| !name).map_or(word.len(), |(end, _)| end);
        words.insert(word[..end].trim_end_matches('s').to_owned());
    }
    words.remove("");
    words
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether two findings of one round are one. Of one reviewer only what says the same is: it meant two where it says two.
pub(super) fn same(one: (&Finding, &Words), other: (&Finding, &Words), same_reviewer: bool) -> Option<Likeness> {
    let ((one, words), (other, other_words)) = (one, other);
    let gap = match (one.lines, other.lines) {
        (Some(lines), Some(other)) => Some(lines.gap(other)),
        _ => None,
    };
    let (title, all) = match (one.file == other.file, one.file.is_some() && other.file.is_some()) {
        (false, true) => return None,
        // Of the same file.
        (true, true) => match gap {
            Some(gap) if gap > NEAR => return None,
            Some(_) => (600, 450),
            None => (700, 600),
        },
        // Neither is about a file.
        (true, false) => (650, 550),
        // One is.
        (false, false) => (800, 700),
    };
    if same_reviewer && (words.title != other_words.title || dice(&words.all, &other_words.all) < 900) {
        return None;
    }
    Some(Likeness { words: words.alike(other_words, title, all)?, nearness: nearness(gap) })
}

/// Whether a finding is one of an earlier round, in which its place may have been another.
pub(super) fn again(one: (&Finding, &Words), earlier: (&Finding, &Words)) -> Option<Likeness> {
    let ((one, words), (earlier, earlier_words)) = (one, earlier);
    if one.file != earlier.file {
        return None;
    }
    let gap = match (one.lines, earlier.lines) {
        (Some(lines), Some(earlier)) => Some(lines.gap(earlier)),
        _ => None,
    };
    let (title, all) = match gap {
        Some(gap) if gap <= MOVED => (600, 450),
        Some(_) => (900, 800),
        None => (700, 600),
    };
    Some(Likeness { words: words.alike(earlier_words, title, all)?, nearness: nearness(gap) })
}

/// Whether a finding is one that a person decided to leave. What is not clearly the same is none: a decision must not
/// silence what it was not made about, while one that is not known again costs one more look.
pub(super) fn declined_again(one: (&Finding, &Words), declined: (&Finding, &Words)) -> Option<Likeness> {
    let likeness = again(one, declined)?;
    let ((one, words), (declined, declined_words)) = (one, declined);
    // Reviewers put whole sentences alike; what is wrong stands in the title.
    let by_title = dice(&words.title, &declined_words.title);
    let is_alike = by_title >= 700 || by_title >= 400 && dice(&words.all, &declined_words.all) >= 600;
    if !is_alike {
        return None;
    }
    // Two that name other things of the code are two, however alike the rest of the words is.
    let (names, declined_names) = (names(&one.title), names(&declined.title));
    let is_one = names.is_subset(&declined_names) || declined_names.is_subset(&names);
    is_one.then_some(likeness)
}

/// The names of the code in `text`: words that no prose has.
fn names(text: &str) -> BTreeSet<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for (index, quoted) in text.split('`').enumerate() {
        for word in quoted.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
            let after_lower = |(one, next): (char, char)| one.is_lowercase() && next.is_uppercase();
            let is_camel = word.chars().zip(word.chars().skip(1)).any(after_lower);
            let is_called = quoted.contains(&format!("{word}("));
            let has_mark = word.contains('_') || word.chars().any(|c| c.is_ascii_digit());
            if index % 2 == 1 || is_camel || is_called || has_mark {
                names.insert(word);
            }
        }
    }
    names
}

/// More is nearer; a place that is not known is far.
fn nearness(gap: Option<u32>) -> u32 {
    gap.map_or(0, |gap| u32::MAX - gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_their_endings_and_names_as_a_whole() {
        assert_eq!(words("The Injections are INJECTED"), words("injection"));
        assert_ne!(words("find_user"), words("find_user_by_name"));
        assert_ne!(words("sha256"), words("sha512"));
        assert!(words("it is in the file, so --").is_empty());
        assert_eq!(dice(&words(""), &words("")), 0);
    }

    #[test]
    fn names_of_the_code_are_told_from_prose() {
        let text = "The `sum of` items in find_user, parseAll, sha256 and open() is wrong (see below)";
        assert_eq!(names(text), ["sum", "of", "find_user", "parseAll", "sha256", "open"].into());
        assert!(names("The Last item is never summed (again)").is_empty());
    }

    #[test]
    fn a_script_without_blanks_is_compared_by_pairs() {
        let one = words("パスワードが平文で保存される");
        assert!(dice(&one, &words("パスワードが平文で書き込まれる")) > 500);
        assert!(dice(&one, &words("接続が閉じられない")) < 300);
    }
}
