//! Reviewers of known quality before faults that are planted and decoys that only look like some.

use std::collections::{BTreeMap, BTreeSet};

use rstest::rstest;
use serde_json::Value;

use super::world::{Repo, finding, finds};
use crate::support::{Session, TeamToml, TestEnv, finish};

/// Something in a file of the change: its path, what the file was and is, a finding about it, and what shows it.
struct Planted {
    file: &'static str,
    text: &'static str,
    line: u32,
    title: &'static str,
    /// A word that only findings about it hold.
    word: &'static str,
    /// A part of a line that the change adds where it is there.
    sign: &'static str,
}

/// Faults: off by one, logic, race, leak, injection, a dead link.
const FAULTS: [Planted; 6] = [
    Planted {
        file: "src/sum.rs",
        text: "pub fn sum(items: &[u64]) -> u64 {\n    let mut total = 0;\n    for index in 0..items.len() - 1 {\n        \
               total += items[index];\n    }\n    total\n}\n",
        line: 3,
        title: "The last item is never summed",
        word: "summed",
        sign: "0..items.len() - 1",
    },
    Planted {
        file: "src/access.rs",
        text: "pub fn may_enter(user: &User) -> bool {\n    user.is_member || !user.is_banned\n}\n",
        line: 2,
        title: "A stranger who is not banned may enter",
        word: "stranger",
        sign: "user.is_member || !user.is_banned",
    },
    Planted {
        file: "src/counter.rs",
        text: "pub fn count(hits: &AtomicU64) {\n    let seen = hits.load(Relaxed);\n    hits.store(seen + 1, Relaxed);\n}\n",
        line: 3,
        title: "Two threads that count at once lose a hit",
        word: "threads",
        sign: "hits.store(seen + 1",
    },
    Planted {
        file: "src/cache.rs",
        text: "pub fn forget(cache: &mut Cache, key: &str) {\n    std::mem::forget(cache.entries.remove(key));\n}\n",
        line: 2,
        title: "Memory of a removed entry is never freed",
        word: "freed",
        sign: "mem::forget",
    },
    Planted {
        file: "src/find.rs",
        text: "pub fn find(db: &Db, name: &str) -> Rows {\n    db.query(&format!(\"SELECT id FROM users WHERE name = \
               '{name}'\"))\n}\n",
        line: 2,
        title: "A name with a quote in it changes the SQL statement",
        word: "quote",
        sign: "WHERE name = '{name}'",
    },
    Planted {
        file: "docs/guide.md",
        text: "# Guide\n\nFirst see [how it is set up](set-up.md).\n",
        line: 3,
        title: "The link to the page about setting it up is dead",
        word: "dead",
        sign: "(set-up.md)",
    },
];

/// What is right and looks wrong, with what somebody might make up about it.
const DECOYS: [Planted; 3] = [
    Planted {
        file: "src/pairs.rs",
        text: "pub fn pairs(items: &[u64]) -> usize {\n    if items.is_empty() { 0 } else { items.len() - 1 }\n}\n",
        line: 2,
        title: "The length of an empty list underflows",
        word: "underflows",
        sign: "(no line of the change shows it)",
    },
    Planted {
        file: "src/rows.rs",
        text: "pub fn rows(db: &Db, name: &str) -> Rows {\n    db.query_with(\"SELECT id FROM users WHERE name = ?\", \
               &[name])\n}\n",
        line: 2,
        title: "Whoever chooses the name injects a statement",
        word: "injects",
        sign: "(no line of the change shows it)",
    },
    Planted {
        file: "docs/more.md",
        text: "# More\n\nThe [first page](first.md) has it all.\n",
        line: 3,
        title: "The first page that it leads to is missing",
        word: "missing",
        sign: "(no line of the change shows it)",
    },
];

impl Planted {
    fn told(&self) -> Value {
        finding("high", self.file, self.line, self.title, &format!("{}, as line {} shows.", self.title, self.line))
    }

    /// The same in somebody else's words.
    fn copied(&self) -> Value {
        let title = format!("{}!", self.title);
        finding("medium", self.file, self.line, &title, &format!("I see that {}.", self.title.to_lowercase()))
    }
}

/// How good a reviewer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quality {
    /// Finds every fault and nothing else.
    Good,
    /// Finds half of them.
    Misses,
    /// Finds one, and makes up one for each decoy.
    Invents,
    /// Says of three faults what another says.
    Copies,
    /// Finds nothing.
    Blind,
    /// Prints nothing, whatever it is asked.
    Silent,
    /// Changes what it looks at, and finds all.
    Edits,
    /// Answers in sentences.
    Prose,
}

impl Quality {
    fn add(self, config: TeamToml, name: &str) -> TeamToml {
        let told = |planted: &[Planted]| planted.iter().map(Planted::told).collect::<Vec<_>>();
        let facts: Vec<String> = FAULTS.iter().map(|fault| format!("{} {}", fault.word, fault.sign)).collect();
        let weigh = format!("weigh added {}", facts.join(" ;; "));
        let all = finds(&told(&FAULTS));
        let found = match self {
            Self::Good | Self::Edits => all.clone(),
            Self::Misses => finds(&told(&FAULTS[..3])),
            Self::Invents => finds(&[told(&DECOYS), told(&FAULTS[5..])].concat()),
            Self::Copies => finds(&FAULTS[..3].iter().map(Planted::copied).collect::<Vec<_>>()),
            Self::Blind => finds(&[]),
            Self::Silent => return config.agent(name, &["swallow"]),
            Self::Prose => "answer I looked at all of it, and would change nothing.".to_owned(),
        };
        if self == Self::Edits {
            let script = "chmod -R u+w . 2>/dev/null; echo '// fine' >> src/sum.rs; exec fake-agent \"$@\"";
            let command = toml::Value::from(vec!["sh", "-c", script, "sh", &found, &weigh]);
            return config.model(name, &[("command", command)]);
        }
        config.agent(name, &[&found, &weigh])
    }
}

/// The decoys, then the faults, each as one commit on top of what was there before.
fn repository(panel: &[Quality], env: TestEnv) -> Repo {
    let names: Vec<String> = (b'a'..).take(panel.len()).map(|letter| format!("r{}", char::from(letter))).collect();
    let config = panel.iter().zip(&names).fold(TeamToml::new(), |config, (quality, name)| quality.add(config, name));
    let repo = Repo::of(env, &config.panel(&names.iter().map(String::as_str).collect::<Vec<_>>()));
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["branch", "-q", "-D", "topic"]);
    repo.git(&["checkout", "-q", "-b", "topic"]);
    for planted in [&DECOYS[..], &FAULTS[..]] {
        planted.iter().for_each(|planted| drop(repo.env.write(planted.file, planted.text)));
        repo.env.write("docs/first.md", "# First\n");
        repo.commit("a part of the change");
    }
    repo
}

/// What became of each finding, by its title, and who raised it first.
fn ends(session: &Session) -> BTreeMap<String, (String, usize)> {
    let mut found: BTreeMap<String, (String, String, usize)> = BTreeMap::new();
    for line in session.text("findings.jsonl").lines().skip(1) {
        let line: Value = serde_json::from_str(line).unwrap();
        let (id, entry) = (line["finding"].as_str().unwrap().to_owned(), line["entry"].as_str().unwrap().to_owned());
        if entry == "raised" {
            let title = line["content"]["title"].as_str().unwrap().trim_end_matches('!').to_owned();
            found.insert(id, (title, entry, line["by"]["slots"].as_array().unwrap().len()));
        } else {
            found.get_mut(&id).unwrap().1 = entry;
        }
    }
    let all = found.len();
    let by_title: BTreeMap<String, (String, usize)> =
        found.into_values().map(|(title, entry, raised)| (title, (entry, raised))).collect();
    assert_eq!(by_title.len(), all, "one thing was voted on twice: {by_title:?}");
    by_title
}

fn titles(planted: &[Planted]) -> BTreeSet<&str> {
    planted.iter().map(|planted| planted.title).collect()
}

#[rstest]
// Half is missed by one, and three are made up: what is there survives, and what is not dies.
#[case(&[Quality::Good, Quality::Misses, Quality::Invents], &[], 1, (3, 3), &FAULTS, &DECOYS)]
// Whoever says what another says adds no finding. The one that is silent neither raises nor votes.
#[case(&[Quality::Good, Quality::Copies, Quality::Silent], &[], 1, (3, 2), &FAULTS, &[])]
// Only one sees anything; two who saw nothing look again when they vote.
#[case(&[Quality::Good, Quality::Blind, Quality::Blind], &[], 1, (3, 3), &FAULTS, &[])]
// Nothing is wrong, whatever somebody makes up.
#[case(&[Quality::Invents, Quality::Blind, Quality::Blind], &["--diff", "main..HEAD~1"], 0, (3, 3), &[], &DECOYS)]
#[case(&[Quality::Blind, Quality::Misses, Quality::Prose], &[], 1, (3, 2), &FAULTS[..3], &[])]
fn what_is_planted_survives_the_vote_and_what_is_made_up_dies_in_it(
    #[case] panel: &[Quality],
    #[case] options: &[&str],
    #[case] code: i32,
    #[case] seats: (u64, u64),
    #[case] sustained: &[Planted],
    #[case] rejected: &[Planted],
) {
    let repo = repository(panel, TestEnv::new());
    let (_, err) = repo.review(options, code);
    let session = repo.session();
    let ends = ends(&session);
    let of = |state: &str| {
        let found = ends.iter().filter(|(_, (end, _))| end == state).map(|(title, _)| title.as_str());
        found.collect::<BTreeSet<_>>()
    };
    // On a change without faults, the true finding of the one that invents is not true.
    let mut dead = titles(rejected);
    if !options.is_empty() {
        dead.insert(FAULTS[5].title);
    }
    assert_eq!((of("sustained"), of("rejected")), (titles(sustained), dead), "{err}");
    assert_eq!(of("needs_person"), BTreeSet::new(), "{err}");
    let verdict = session.json("verdict.json");
    assert_eq!(
        (verdict["seats"]["panel"].as_u64(), verdict["seats"]["usable"].as_u64()),
        (Some(seats.0), Some(seats.1))
    );
    if panel.contains(&Quality::Copies) {
        let raised: Vec<usize> = FAULTS.iter().map(|fault| ends[fault.title].1).collect();
        assert_eq!(raised, [2, 2, 2, 1, 1, 1], "what two say is one finding of two");
    }
    finish(&repo.env, &["verify"], 0);
}

#[rstest]
#[case(&[Quality::Good, Quality::Prose, Quality::Silent], 3, "inconclusive: 1 of 3 reviewers")]
#[case(&[Quality::Prose, Quality::Silent], 4, "nothing usable: 0 of 2 reviewers")]
fn too_few_who_can_be_read_decide_nothing(#[case] panel: &[Quality], #[case] code: i32, #[case] told: &str) {
    let repo = repository(panel, TestEnv::new());
    let (_, err) = repo.review(&[], code);
    assert!(err.contains(told), "{err}");
    let verdict = repo.session().text("verdict.md");
    assert!(verdict.contains("bad_output") && verdict.contains("empty_output"), "{verdict}");
    finish(&repo.env, &["verify"], 0);
}

#[test]
fn a_reviewer_that_changes_what_it_looks_at_is_told_and_its_findings_count_for_nothing() {
    let panel = [Quality::Edits, Quality::Misses, Quality::Blind];
    let repo = repository(&panel, TestEnv::new().set("TEAM_ISOLATION", "none"));
    repo.review(&[], 1);
    let session = repo.session();
    let sustained = ends(&session);
    assert_eq!(sustained.keys().map(String::as_str).collect::<BTreeSet<_>>(), titles(&FAULTS[..3]));
    let inner = session.round("reviews/impl-review");
    let error = inner.slot(&inner.id_of("ra"))["error"].clone();
    assert_eq!(error["reason"], "workspace_changed", "{error}");
    assert!(session.text("verdict.md").contains("workspace_changed"));
    assert_eq!(session.json("verdict.json")["seats"]["usable"], 2);
    // The others and the judges saw it as it was; the user's own file is as it was as well.
    assert_eq!(session.text("workspace/src/sum.rs"), FAULTS[0].text);
    assert_eq!(std::fs::read_to_string(repo.env.path("src/sum.rs")).unwrap(), FAULTS[0].text);
    finish(&repo.env, &["verify"], 0);
}
