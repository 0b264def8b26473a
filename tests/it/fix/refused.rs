//! What a fixer leaves is looked at before it counts.

use serde_json::json;

use super::world::{MENDED, MENDS, Repo, keys, panel};
use crate::support::{Answer, Server};

/// Runs a fix whose fixer cannot come to a result that counts, and gives the page that asks what to do.
#[track_caller]
fn refused(script: &str, more: &str) -> (Repo, String) {
    let fix = format!("fixer = \"fixer\"\n{more}");
    let repo = Repo::with(&panel("auto-fix", script).key("fix", keys(&fix)));
    let before = repo.of_the_user();
    let (out, _) = repo.fix(&[], 5);
    assert_eq!(repo.of_the_user(), before);
    assert_eq!(repo.states()["F01"], "sustained");
    assert!(repo.new_branches().is_empty());
    (repo, out)
}

#[test]
fn files_that_are_not_its_own_keys_and_settings_are_refused_and_told_at_once() {
    let script = format!("{MENDS}; echo x >> src/other.rs; echo k > src/.env; echo '[fix]' >> team.toml");
    let (_, page) = refused(&script, "");
    for told in ["src/other.rs", "src/.env", "team.toml", "decides how the result is checked"] {
        assert!(page.contains(told), "{told}: {page}");
    }
    let in_scope = "fixer = \"fixer\"\nscope = [\"src/**\"]\n";
    let repo =
        Repo::with(&panel("auto-fix", &format!("{MENDS}; echo '// x' >> src/other.rs")).key("fix", keys(in_scope)));
    repo.fix(&[], 0);
}

#[test]
fn a_second_attempt_begins_at_the_clean_commit_and_knows_what_was_wrong_with_the_first() {
    let script = format!(
        "prompt=$(cat); case \"$prompt\" in *'is undone'*) test -e junk.txt || {{ {MENDS}; }};; *) echo x > junk.txt;; esac; echo ok"
    );
    let repo = Repo::with(&panel("auto-fix", &script));
    repo.fix(&[], 0);
    let branch = repo.new_branches().remove(0);
    assert_eq!(repo.git(&["show", "--format=", "--name-only", &branch]), "src/sum.rs");
    let again = repo.session().text("fixes/1/repair/prompt-01.md");
    assert!(again.contains("junk.txt` is not among the files that may be changed"), "{again}");
    assert!(repo.report().contains("attempt 1: `junk.txt` is not among"), "{}", repo.report());
}

#[test]
fn a_failed_check_parks_the_fix_with_the_end_of_what_it_printed() {
    let (repo, page) = refused(MENDS, "test = [\"sh\", \"-c\", \"echo three tests fail; exit 3\"]");
    assert!(page.contains("failed with exit code 3") && page.contains("three tests fail"), "{page}");
    repo.team(&["respond", "latest", "--abort"], 3);
}

#[test]
fn checks_see_the_commit_and_neither_keys_nor_sessions_nor_what_the_fixer_left_besides() {
    let script = format!("{MENDS}; echo 'out/' > .git/info/exclude; mkdir -p out; echo x > out/left");
    let test = "test = [\"sh\", \"-c\", \"test ! -e out/left && test -z \\\"$SOME_API_KEY\\\" && test ! -e ../findings.jsonl && \
        grep -q copied src/sum.rs\"]";
    let fix = format!("fixer = \"fixer\"\n{test}");
    let env = crate::support::TestEnv::new().set("SOME_API_KEY", "dummy-key");
    let repo = Repo::of(env, &panel("auto-fix", &script).key("fix", keys(&fix)));
    repo.fix(&[], 0);
}

#[test]
fn the_checks_are_those_of_the_base_and_not_of_the_branch() {
    let repo = Repo::with(&panel("auto-fix", MENDS).key("fix", keys("fixer = \"fixer\"\ntest = [\"true\"]")));
    let branchs = panel("auto-fix", "exit 1").key("fix", keys("fixer = \"fixer\"\ntest = [\"touch\", \"sprung\"]"));
    repo.env.write("team.toml", branchs.text());
    repo.commit("settings of the branch's own");
    repo.fix(&[], 0);
    assert!(repo.report().contains("test (`true`) passed"), "{}", repo.report());
}

#[test]
fn a_fixer_that_moves_its_repository_back_does_not_ship_what_nobody_reviewed() {
    let (_, page) = refused("cat > /dev/null; git reset -q --hard HEAD~1; echo done", "");
    assert!(page.contains("does not come after"), "{page}");
}

/// A whole answer of a provider that streams.
fn said(text: &str) -> Answer {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] });
    let stop = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let body = format!("data: {delta}\n\ndata: {stop}\n\ndata: [DONE]\n\n");
    Answer::whole(200, &["content-type: text/event-stream"], body)
}

#[test]
fn a_model_without_hands_answers_with_a_patch_that_is_applied_and_checked() {
    let patch = "F01: sum all.\n\n```patch\n--- a/src/sum.rs\n+++ b/src/sum.rs\n@@ -1,7 +1,3 @@\n pub fn sum(items: &[u64]) -> u64 \
        {\n-    let mut total = 0;\n-    for index in 0..items.len() - 1 {\n-        total += items[index];\n-    }\n-    \
        total\n+    items.iter().copied().sum()\n }\n```\n";
    let server = Server::start(move |request| {
        // What was wrong with the first reply is told with the second question.
        let again = request.body.to_string().contains("has no block that begins");
        if again { said(patch) } else { said("I would sum all of them.") }
    });
    let provider =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("json_schema", true.into())];
    let config = panel("auto-fix", "exit 1").provider("handless", &provider).key("fix", keys("fixer = \"handless@m\""));
    let repo = Repo::with(&config);
    repo.fix(&[], 0);
    let branch = repo.new_branches().remove(0);
    assert_eq!(repo.git(&["show", &format!("{branch}:src/sum.rs")]), MENDED.trim_end());
    let asked = server.requests();
    assert_eq!(asked.len(), 2);
    let first = asked[0].body.to_string();
    assert!(first.contains("items.len() - 1") && first.contains("patch"), "{first}");
}
