//! Reviewers and the fixer keep their conversations over the rounds of a fix.

use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::{Value, json};

use super::world::{MENDED, PLANTED, Repo, SIGN, WEIGH, finding, keys};
use crate::support::{Answer, Request, Server, TeamToml, TestEnv, messages};

/// Two judges that go by what the change shows, and these reviewers and this fixer.
fn cast(settings: TeamToml, reviewers: [&str; 2], fixer: &str) -> TeamToml {
    let review = format!("panel = {reviewers:?}\njudges = [\"ja\", \"jb\"]");
    settings
        .agent("ja", &[WEIGH])
        .agent("jb", &[WEIGH])
        .key("review", keys(&review))
        .key("fix", keys(&format!("fixer = {fixer:?}")))
}

fn block(findings: &[Value]) -> String {
    format!("I looked.\n\n```findings\n{}\n```", json!({ "findings": findings }))
}

/// A model that finds the fault in what it was asked last.
fn reviews(request: &Request) -> Answer {
    let last = messages(&request.body).pop().unwrap();
    let is_there = last.lines().any(|line| line.starts_with('+') && line.contains(SIGN));
    let found = is_there.then(|| finding("high", "auto-fix", PLANTED));
    let said = block(found.as_slice());
    Answer::json(200, &json!({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}))
}

/// What each model was sent, request by request.
fn sent(server: &Server) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut sent: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for request in server.requests() {
        sent.entry(request.body["model"].as_str().unwrap().to_owned()).or_default().push(messages(&request.body));
    }
    sent
}

fn of_models(server: &Server) -> Repo {
    let provider = [("wire", "openai-chat".into()), ("base_url", server.url("v1").into())];
    let mends = toml::Value::from(vec!["sh", "-c", super::world::MENDS]);
    let settings = TeamToml::new().provider("narwhal", &provider).model("mender", &[("command", mends)]);
    Repo::with(&cast(settings, ["narwhal@one", "narwhal@two"], "mender"))
}

#[test]
fn a_model_is_sent_its_own_review_with_the_repair_and_certifies_without_it() {
    let server = Server::start(reviews);
    let repo = of_models(&server);
    repo.fix(&[], 0);
    for (model, asked) in sent(&server) {
        let [first, delta, certify] = &asked[..] else { panic!("{model}: {asked:?}") };
        assert_eq!(first.len(), 1);
        assert_eq!(delta[0], first[0]);
        assert!(delta[1].starts_with("assistant: I looked.") && delta[1].contains(PLANTED), "{delta:?}");
        let [.., again] = &delta[..] else { panic!() };
        assert_eq!(delta.len(), 3);
        for told in ["the newest repair changes", "F01", "items.iter().copied().sum()", "said to be mended"] {
            assert!(again.contains(told), "{told}: {again}");
        }
        assert!(!again.contains("F01: summed all"), "what the fixer said is nothing for reviewers: {again}");
        assert!(again.len() < first[0].len());
        assert_eq!(certify.len(), 1);
        assert!(!certify[0].contains("F01") && certify[0].contains("You are one reviewer of several"), "{certify:?}");
    }
    let (told, _) = repo.team(&["verify"], 0);
    assert!(!told.contains("roles/"), "{told}");
}

#[test]
fn without_reuse_each_turn_is_the_whole_prompt_and_nothing_else() {
    let server = Server::start(reviews);
    let repo = of_models(&server);
    repo.fix(&["--session-reuse", "off"], 0);
    for asked in sent(&server).values() {
        assert_eq!(asked.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
        assert!(asked.iter().all(|said| said[0].contains("You are one reviewer of several")));
    }
    let said = repo.session().text("roles/reviewer-01.jsonl");
    assert!(said.contains(PLANTED), "what was said is kept all the same: {said}");
}

/// A program that keeps conversations as `claude` does. It reviews the folder that it is in, and mends it where it is asked
/// to. It adds a line to `asked` each time: what as, in which conversation, and the how-maniest prompt that is in it. What
/// it does then is in `$REVIEW`, `$MEND` and `$LOSES`, shell code of which each may set `said`.
const CLAUDE: &str = r#"#!/bin/sh
id= resumed=begun
while [ $# -gt 0 ]; do
  case $1 in --resume) id=$2; resumed=resumed; shift;; esac
  shift
done
folder=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects/$(pwd | tr / -)
mkdir -p "$folder"
file=$(ls "${folder%/*}"/*/"$id.jsonl" 2> /dev/null | head -n 1)
LOSES
if [ $resumed = resumed ] && [ -z "$file" ]; then
  cat > /dev/null
  echo "No conversation found with session ID: $id" >&2
  printf '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"%s"}\n' "$id"
  exit 1
fi
[ $resumed = resumed ] || id=$(cat /proc/sys/kernel/random/uuid)
file=${file:-$folder/$id.jsonl}
prompt=$(cat)
echo turn >> "$file"
turns=$(grep -c turn "$file")
said='Nothing.'
case $prompt in
  'You mend'*) role=fixer; MENDS;;
  *) role=reviewer
     if grep -q 'items.len() - 1' src/sum.rs; then said=$FOUND; else said=$NONE; fi
     REVIEWS;;
esac
echo "$role $resumed $turns" >> ASKED
printf '{"type":"system","subtype":"init","session_id":"%s","tools":[]}\n' "$id"
printf '{"type":"assistant","session_id":"%s","message":{"content":[{"type":"text","text":"%s"}]}}\n' "$id" "$said"
printf '{"type":"result","subtype":"success","is_error":false,"result":"x","stop_reason":"end_turn","session_id":"%s"}\n' "$id"
"#;

/// What the program does.
#[derive(Clone, Copy, Default)]
struct Ways {
    /// What should be done about the fault; by itself where empty.
    action: &'static str,
    reviews: &'static str,
    mends: &'static str,
    loses: &'static str,
}

/// A repository in which two reviewers and the fixer are that program.
fn of_programs(ways: Ways) -> Repo {
    let env = TestEnv::new();
    let escaped = |text: String| Value::from(text.replace('\'', "")).to_string().trim_matches('"').replace('%', "%%");
    let action = if ways.action.is_empty() { "auto-fix" } else { ways.action };
    let found = escaped(block(&[finding("high", action, PLANTED)]));
    let settings = format!("FOUND='{found}'\nNONE='{}'\nLOSES", escaped(block(&[])));
    let mends = if ways.mends.is_empty() { MENDS } else { ways.mends };
    let script = CLAUDE
        .replacen("LOSES", &settings, 1)
        .replacen("LOSES", ways.loses, 1)
        .replacen("MENDS", mends, 1)
        .replacen("REVIEWS", if ways.reviews.is_empty() { ":" } else { ways.reviews }, 1)
        .replacen("ASKED", &env.path("../asked").display().to_string(), 1);
    Repo::of(env.program("claude", &script), &cast(TeamToml::new(), ["claude:opus", "claude:sonnet"], "claude:haiku"))
}

const MENDS: &str = "printf 'pub fn sum(items: &[u64]) -> u64 {\\n    items.iter().copied().sum()\\n}\\n' > src/sum.rs";

/// What the program was asked, sorted, and how often each.
fn asked(repo: &Repo) -> Vec<(String, usize)> {
    let text = std::fs::read_to_string(repo.env.path("../asked")).unwrap();
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    text.lines().for_each(|line| *counted.entry(line.to_owned()).or_default() += 1);
    counted.into_iter().collect()
}

fn lines(expected: &[(&str, usize)]) -> Vec<(String, usize)> {
    expected.iter().map(|(line, count)| ((*line).to_owned(), *count)).collect()
}

/// A round that mends the fault, and the review of all of it by new conversations.
const ONE_ROUND: [(&str, usize); 3] = [("fixer begun 1", 1), ("reviewer begun 1", 4), ("reviewer resumed 2", 2)];

#[test]
fn programs_go_on_with_their_reviews_and_certify_in_new_ones() {
    let repo = of_programs(Ways::default());
    repo.fix(&[], 0);
    assert_eq!(asked(&repo), lines(&ONE_ROUND));
    let session = repo.session();
    let mut files: Vec<String> = session.files().into_iter().filter(|file| file.starts_with("roles/")).collect();
    files.sort();
    let expected =
        ["fixer-01.jsonl", "reviewer-01-2.jsonl", "reviewer-01.jsonl", "reviewer-02-2.jsonl", "reviewer-02.jsonl"];
    assert_eq!(files, expected.map(|name| format!("roles/{name}")), "nothing but the words is kept");
    repo.team(&["verify"], 0);
    std::fs::remove_file(repo.env.path("../asked")).unwrap();
    repo.git(&["branch", "-D", &repo.new_branches()[0]]);
    repo.fix(&["--session-reuse", "off"], 0);
    assert_eq!(asked(&repo), lines(&[("fixer begun 1", 1), ("reviewer begun 1", 6)]));
}

#[test]
fn the_fixer_is_told_in_its_conversation_what_was_wrong_with_its_first_try_and_goes_on_in_the_next_round() {
    // First what no check passes, then half of it, then all.
    let mends = "case $turns in \
        1) echo '// no' >> src/sum.rs;; \
        2) sed -i 's/0[.][.]items/0 .. items/' src/sum.rs;; \
        *) printf 'pub fn sum(items: &[u64]) -> u64 {\\n    items.iter().copied().sum()\\n}\\n' > src/sum.rs;; esac";
    let repo = of_programs(Ways { mends, ..Ways::default() });
    repo.fix(&["--test", "! grep -q no src/sum.rs"], 0);
    let fixer: Vec<_> = asked(&repo).into_iter().filter(|(line, _)| line.starts_with("fixer")).collect();
    assert_eq!(fixer, lines(&[("fixer begun 1", 1), ("fixer resumed 2", 1), ("fixer resumed 3", 1)]));
    let said = repo.session().text("roles/fixer-01.jsonl");
    assert!(said.contains("What was tried before did not hold"), "{said}");
}

#[test]
fn a_review_that_cannot_be_read_is_repaired_in_its_conversation_and_then_asked_for_in_a_new_one() {
    let repo = of_programs(Ways { reviews: "[ $turns -gt 1 ] || said='All is well.'", ..Ways::default() });
    repo.team(&["review"], 1);
    assert_eq!(asked(&repo), lines(&[("reviewer begun 1", 2), ("reviewer resumed 2", 2)]));
    let said = repo.session().text("roles/reviewer-01.jsonl");
    let repair = said.lines().nth(3).unwrap();
    assert!(repair.contains("Give your findings again") && !repair.contains("All is well"), "{repair}");
    repo.team(&["verify"], 0);

    let repo = of_programs(Ways { reviews: "said='All is well.'", ..Ways::default() });
    repo.team(&["review"], 4);
    assert_eq!(asked(&repo), lines(&[("reviewer begun 1", 4), ("reviewer resumed 2", 2)]));
    assert!(repo.session().dir().join("roles/reviewer-01-2.jsonl").exists());
    repo.team(&["verify"], 0);
}

#[test]
fn a_conversation_that_is_not_found_again_is_begun_anew_with_the_whole_prompt_and_the_report_says_so() {
    let repo = of_programs(Ways { loses: "file=", ..Ways::default() });
    repo.fix(&[], 0);
    assert_eq!(asked(&repo), lines(&[("fixer begun 1", 1), ("reviewer begun 1", 6)]));
    let report = repo.report();
    let told = "reviewer 01 (claude:";
    assert!(report.contains("## Conversations") && report.contains(told), "{report}");
    assert!(report.contains("reviews/impl-review-2") && report.contains("was not taken up again"), "{report}");
    let (shown, _) = repo.team(&["show", "latest"], 0);
    assert!(shown.contains("was not taken up again"), "{shown}");
}

#[test]
fn an_answer_in_another_conversation_counts_and_is_told_as_one() {
    let loses = "[ $resumed = begun ] || { id=$(cat /proc/sys/kernel/random/uuid); file=$folder/$id.jsonl; }";
    let repo = of_programs(Ways { loses, ..Ways::default() });
    repo.fix(&[], 0);
    assert_eq!(asked(&repo), lines(&[("fixer begun 1", 1), ("reviewer begun 1", 4), ("reviewer resumed 1", 2)]));
    assert!(repo.report().contains("answered in another conversation"), "{}", repo.report());
}

#[test]
fn nothing_that_is_kept_of_conversations_says_who_they_are_with_before_the_verdict() {
    // It waits for a person.
    let repo = of_programs(Ways { action: "ask-user", ..Ways::default() });
    repo.fix(&[], 5);
    let session = repo.session();
    let files = session.files();
    let mut kept = 0;
    for name in files.iter().filter(|file| file.starts_with("roles/")) {
        kept += usize::from(name.ends_with(".kept"));
        let bytes = std::fs::read(session.dir().join(name)).unwrap();
        for word in ["claude", "opus", "sonnet", "haiku", "projects", "session_id"] {
            assert!(memchr::memmem::find(&bytes, word.as_bytes()).is_none(), "{name}: {word}");
        }
    }
    assert_eq!(kept, 2, "each seat may go on: {files:?}");
    repo.team(&["verify"], 0);
    for command in ["status", "show", "list"] {
        let (out, err) = repo.team(&[command], 0);
        for word in ["opus", "sonnet", "haiku"] {
            assert!(!(out.clone() + &err).contains(word), "{command}: {out}{err}");
        }
    }
    // Whoever decides gets the same conversations, wherever the session lies by then.
    let moved = session.dir().with_file_name("fix-moved-20260101-000000-abcd");
    std::fs::rename(session.dir(), &moved).unwrap();
    repo.team(&["respond", moved.to_str().unwrap(), "--fix", "F01"], 0);
    assert_eq!(asked(&repo), lines(&ONE_ROUND));
}

/// Kills a fix at `point`, moves its session, and resumes it there.
#[track_caller]
fn cut_off_at(point: &str, again: usize) {
    let repo = of_programs(Ways::default());
    let output = repo.env.team(&["fix"]).env("TEAM_FAULT_POINT", point).output().unwrap();
    assert_eq!(output.status.code(), None, "it was not killed at {point}");
    repo.env.wait_for_no_processes();
    repo.team(&["verify"], 0);
    let session = repo.session();
    let moved = session.dir().with_file_name("fix-moved-20260101-000000-abcd");
    std::fs::rename(session.dir(), &moved).unwrap();
    let (_, told) = repo.team(&["resume", moved.to_str().unwrap()], 0);
    let branch = repo.new_branches().remove(0);
    assert_eq!(repo.git(&["show", &format!("{branch}:src/sum.rs")]), MENDED.trim_end());
    let asked = asked(&repo);
    let all: usize = asked.iter().map(|(_, count)| count).sum();
    assert_eq!(all, 7 + again, "{point}: {asked:?}\n{told}");
    assert_eq!(asked.iter().map(|(line, _)| &**line).collect::<Vec<_>>(), ONE_ROUND.map(|(line, _)| line), "{point}");
    repo.team(&["verify", moved.to_str().unwrap()], 0);
}

/// The places in a turn of a conversation: in the first review, of the fixer, in the review of the repair, in the last one.
#[rstest]
#[case::first_asked(&[("turn-asked:1", 0), ("turn-asked:2", 0)])]
#[case::first_heard(&[("turn-heard:1", 0), ("turn-heard:2", 0)])]
#[case::of_the_fixer(&[("turn-asked:3", 0), ("turn-kept:3", 1), ("turn-heard:3", 0)])]
#[case::of_the_repair(&[("turn-asked:5", 0), ("turn-heard:4", 0), ("turn-heard:5", 0)])]
#[case::last(&[("turn-asked:7", 0), ("turn-heard:6", 0), ("turn-heard:7", 0)])]
fn killed_in_a_turn_it_goes_on_in_the_same_conversations_and_asks_nobody_twice(#[case] points: &[(&str, usize)]) {
    points.iter().for_each(|(point, again)| cut_off_at(point, *again));
}
