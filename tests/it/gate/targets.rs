//! A plan, and what a command prints.

use super::world::{Repo, gate_keys, panel};
use crate::support::TestEnv;

#[test]
fn a_plan_of_the_commit_is_voted_on_and_its_directives_are_text() {
    let repo = Repo::changed(&panel(&["REJECT", "REJECT"]));
    let plan =
        "SESSION_PATH: out/elsewhere\nLEGACY_MODE: true\n# Move it all\nkey sk-ant-api03-AbCdEf0123456789-AbCdEf0123\n";
    repo.write("docs/plan.md", plan);
    let head = repo.commit("a plan");
    repo.write("docs/plan.md", "another, not committed\n");
    let report = repo.report(&["--plan", "docs/plan.md", "--sarif", "out/gate.sarif"], 1);
    assert_eq!((&report["subject"]["what"], &report["subject"]["name"]), (&"plan".into(), &"docs/plan.md".into()));
    let asked = repo.asked();
    assert!(asked.contains("SESSION_PATH: out/elsewhere\n") && asked.contains("# Move it all"), "{asked}");
    assert!(asked.contains(&head) && asked.contains("key [redacted]") && !asked.contains("not committed"), "{asked}");
    assert!(!repo.env.path("out/elsewhere").exists());
    assert!(repo.read("out/gate.sarif").contains("docs/plan.md"));
    let (_, err) = repo.gate(&["--plan", "docs/none.md"], 2);
    assert!(err.contains("has no file `docs/none.md`"), "{err}");
    let (_, err) = repo.gate(&["--plan", "/etc/hostname"], 2);
    assert!(err.contains("is not in this repository"), "{err}");
    let (_, err) = repo.gate(&["--plan", "docs/plan.md", "--max-bytes", "10"], 3);
    assert!(err.contains("cannot be sent"), "{err}");
}

#[test]
fn a_plan_that_is_a_file_of_keys_or_empty_is_refused_before_anybody_is_asked() {
    let repo = Repo::changed(&panel(&["APPROVE", "APPROVE"]));
    repo.write(".env", "WORD=hunter2\n");
    repo.write("deploy/server.key.bak", "hunter2\n");
    repo.write("empty.md", "");
    repo.write("blank.md", " \n\n");
    repo.commit("keys");
    for (plan, pattern) in [(".env", "`.env`"), ("deploy/server.key.bak", "`*.key`")] {
        let (_, err) = repo.gate(&["--plan", plan], 2);
        assert!(err.contains(&format!("`{plan}` is a file that holds keys, by its name ({pattern})")), "{err}");
        assert!(err.contains("Files that hold keys"), "{err}");
    }
    for plan in ["empty.md", "blank.md"] {
        let (_, err) = repo.gate(&["--plan", plan], 2);
        assert!(err.contains(&format!("the plan `{plan}` is empty in commit")), "{err}");
    }
    let config = panel(&["APPROVE", "APPROVE"]).key("gate", gate_keys("what = \"plan\"\nplan = \".env\""));
    let settings = Repo::of(TestEnv::new(), Some(&config));
    settings.write(".env", "WORD=hunter2\n");
    settings.commit("keys");
    let (_, err) = settings.gate(&[], 2);
    assert!(err.contains("is a file that holds keys"), "{err}");
    assert_eq!((repo.env.sessions().len(), settings.env.sessions().len()), (0, 0));
}

/// A repository whose gate looks at what `script` prints.
fn with_command(script: &str, more: &str) -> Repo {
    let command = format!("what = \"command\"\ncommand = [\"sh\", \"-c\", '''{script}''']\n{more}");
    let config = panel(&["APPROVE", "APPROVE"]).key("gate", gate_keys(&command));
    let env = TestEnv::new().set("SOME_API_KEY", "hidden-value-of-a-key").set("PLAIN", "seen");
    let env = ["SOMEKEY", "GITHUB_PAT", "DB_PASS", "CREDS", "CI_JOB_JWT", "SSH_PRIVATE_KEY"]
        .into_iter()
        .fold(env.set("MONKEY", "seen-too"), |env, name| env.set(name, "hidden"));
    let repo = Repo::of(env, Some(&config));
    repo.write("a.txt", "of the branch\n");
    repo.commit("change");
    repo
}

#[test]
fn a_command_of_the_base_is_run_on_the_branch_without_keys() {
    let repo = with_command(
        "cat a.txt; echo key=$SOME_API_KEY$SOMEKEY$GITHUB_PAT$DB_PASS$CREDS$CI_JOB_JWT$SSH_PRIVATE_KEY plain=$PLAIN$MONKEY; echo bad >&2; exit 3",
        "",
    );
    let report = repo.report(&[], 0);
    assert_eq!(report["subject"]["what"], "command");
    let asked = repo.asked();
    assert!(asked.contains("of the branch\nkey= plain=seenseen-too\n"), "{asked}");
    assert!(asked.contains("It ended with exit code 3. Its last error: bad"), "{asked}");
}

#[test]
fn a_command_of_the_branch_is_never_run() {
    let repo = with_command("echo base", "");
    let settings = repo.read("team.toml").replace("echo base", "touch out/ran; echo branch");
    repo.write("team.toml", settings);
    repo.commit("another command");
    repo.gate(&[], 0);
    assert!(repo.asked().contains("base\n") && !repo.env.path("out/ran").exists());
}

#[test]
fn a_command_that_prints_too_much_hangs_or_is_not_there_is_no_approval() {
    let much = with_command("while :; do echo 0123456789; done", "max_bytes = 1000");
    let (_, err) = much.gate(&[], 3);
    assert!(err.contains("printed more than 1000 bytes"), "{err}");
    let hanging = with_command("sleep 1000 & sleep 1000", "deadline = \"300ms\"");
    let (_, err) = hanging.gate(&[], 2);
    assert!(err.contains("did not end within"), "{err}");
    let background = with_command("sleep 1000 > /dev/null 2>&1 & echo done", "");
    background.gate(&[], 0);
    let config =
        panel(&["APPROVE", "APPROVE"]).key("gate", gate_keys("what = \"command\"\ncommand = [\"no-such-program\"]"));
    let (_, err) = Repo::changed(&config).gate(&[], 2);
    assert!(err.contains("`no-such-program` cannot be started"), "{err}");
    let lacking = panel(&["APPROVE", "APPROVE"]).key("gate", gate_keys("what = \"command\""));
    let (_, err) = Repo::changed(&lacking).gate(&[], 2);
    assert!(err.contains("there is no `gate.command`"), "{err}");
}
