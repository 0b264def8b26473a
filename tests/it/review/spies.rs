//! Reviewers and judges that look around instead of answering.

use serde_json::Value;
use team::isolation::Level;

use super::world::{Repo, finding, finds};
use crate::support::{TeamToml, TestEnv, finish, level, ways};

/// Looks for everything that would tell a name, a seat or what somebody else says; `$1` is what else it looks at.
const LOOKS: &str = "cat > /dev/null; env; pwd; ls -la . ..; ls -R ../../.. 2>/dev/null; \
    cat ../manifest.json ../status.json ../events.jsonl ../findings.jsonl ../reviews/*/manifest.json ../reviews/*/*.md \
      ../reviews/*/*/* ../reviews/*/work/*/* ../../../*/manifest.json 2>/dev/null; \
    eval \"$1\" 2>/dev/null | tr '\\0' '\\n'; touch \"$2\"; echo looked";

/// Every process that lives now.
const PROCESSES: &str = "cat /proc/*/cmdline /proc/*/environ /proc/*/comm; ps -ef";

#[test]
fn a_reviewer_and_a_judge_that_look_around_learn_no_name_no_seat_and_nothing_of_what_others_say() {
    for way in ways() {
        let env = TestEnv::new().set("TEAM_ISOLATION", way);
        let seen = env.path("../seen").display().to_string();
        // Where processes stay in sight, that is said aloud, and is no secret of the files.
        let more = if way.is_empty() && level() == Level::Enforced { PROCESSES } else { "true" };
        let words = |words: &[&str]| Value::from(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let command = |value: Value| ("command", toml::Value::try_from(value).unwrap());
        std::fs::create_dir_all(env.path("bin")).unwrap();
        let program = env.path("bin/quokka-cli").display().to_string();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-agent"), &program).unwrap();
        let found = finds(&[finding("high", "src/sum.rs", 3, "Kookaburra", "What only this one says.")]);
        let spy = || command(words(&["sh", "-c", LOOKS, "sh", more, &seen]));
        let names = ["wombat", "numbat", "bilby", "dugong"];
        let config = names.iter().fold(TeamToml::new(), |config, name| config.model(name, &[spy()]));
        let config = config.model("quokka", &[command(words(&[&program, &format!("wait-for {seen}"), &found]))]);
        let repo = Repo::of(env, &config.panel(&["wombat", "quokka", "numbat"]));
        repo.review(&["--judges", "bilby,dugong", "--quorum", "1"], 3);
        let session = repo.session();
        let replies: Vec<String> = session.files().into_iter().filter(|file| file.contains("/response-")).collect();
        // Three of each spy among the reviewers, two of each judge, and the one that found something.
        assert_eq!(replies.len(), 3 * 2 + 2 * 2 + 1, "{way}: {replies:?}");
        let mut spied = 0;
        for file in replies {
            let told = session.text(&file);
            if !told.contains("looked") {
                continue;
            }
            spied += 1;
            let lower = told.to_lowercase();
            for word in names.iter().chain(&["quokka", "kookaburra", "shuffleorder", "\"nonce\"", "raised_by"]) {
                assert!(!lower.contains(word), "{way}: `{file}` holds `{word}`:\n{told}");
            }
        }
        assert_eq!(spied, 10, "{way}");
        finish(&repo.env, &["verify"], 0);
    }
}
