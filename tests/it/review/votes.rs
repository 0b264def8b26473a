//! The vote on what was found: asked once more, with the repository in sight, and never with a key in a prompt.

use serde_json::{Value, json};

use super::providers::{prompts, provider, said};
use super::world::{Repo, finding, finds, invented, planted, reviewers};
use crate::support::{Server, TestEnv, finish};

/// The judges of a round by the model that each is.
fn judge<'v>(votes: &'v Value, id: &str) -> &'v Value {
    votes["judges"].as_array().unwrap().iter().find(|judge| judge["id"] == id).unwrap()
}

#[test]
fn a_judge_whose_votes_cannot_be_read_is_asked_once_more_for_these_and_it_is_told() {
    let repo = Repo::with(&reviewers(&[
        &[&finds(&[planted(), invented()]), "weigh sustain"],
        &[&finds(&[]), "weigh first garbage", "weigh again word summed"],
        &[&finds(&[]), "weigh first missing", "weigh again word summed"],
        &[&finds(&[]), "weigh garbage"],
    ]));
    repo.review(&[], 1);
    let session = repo.session();
    let round = session.round("reviews/impl-review/judging");
    let votes = round.json("votes.json");
    let [all, some, none] = ["rb", "rc", "rd"].map(|model| judge(&votes, &round.id_of(model)).clone());
    assert_eq!(all["ballot"]["votes"], json!([]));
    let counts = |judge: &Value, of: &str| judge["repair"][of].as_array().map(Vec::len);
    assert_eq!((counts(&all, "asked"), all["repair"]["ballot"]["votes"].as_array().unwrap().len()), (Some(2), 2));
    // Only for what is missing: what it said before stays.
    assert_eq!((counts(&some, "asked"), some["ballot"]["votes"].as_array().unwrap().len()), (Some(1), 1));
    assert_eq!(none["repair"]["ballot"]["missing"].as_array().unwrap().len(), 2);
    assert!(judge(&votes, &round.id_of("ra")).get("repair").is_none(), "who has nothing to vote on is not asked");
    let turn = round.round("repair");
    let mut asked = turn.slots();
    asked.sort();
    let mut expected = ["rb", "rc", "rd"].map(|model| round.id_of(model));
    expected.sort();
    assert_eq!(asked, expected);
    let prompt = turn.text(&format!("prompt-{}.md", round.id_of("rc")));
    assert_eq!(prompt.matches("\n### Finding ").count(), 1, "{prompt}");
    assert!(prompt.contains("items.len() - 1") && prompt.contains("I looked at every finding."), "{prompt}");
    let told = session.text("reviews/impl-review/consolidated.md");
    for (model, came) in [("rb", "F01, F02: 2 of 2 came"), ("rd", "F01, F02: 0 of 2 came")] {
        let note = format!("udge {} was asked once more for its votes on {came}", round.id_of(model));
        assert!(told.contains(&note), "{note}\n{told}");
    }
    finish(&repo.env, &["verify"], 0);

    // What came of it is counted again by whoever checks.
    let reply = turn.path(&format!("response-{}.md", round.id_of("rb")));
    let sustained = std::fs::read_to_string(&reply).unwrap();
    std::fs::write(&reply, sustained.replace("VERDICT: SUSTAIN", "VERDICT: REJECT")).unwrap();
    let (found, _) = finish(&repo.env, &["verify"], 6);
    assert!(found.contains("judging/repair/response-"), "{found}");
}

#[test]
fn judges_that_are_programs_look_at_the_repository_and_one_that_changes_it_has_no_vote() {
    let looks = "weigh looks src/sum.rs items.len()";
    let edits = "chmod -R u+w . 2>/dev/null; echo x >> src/sum.rs; exec fake-agent 'weigh reject'";
    let edits = ("command", toml::Value::from(vec!["sh", "-c", edits]));
    let config = reviewers(&[&[&finds(&[planted()])], &[&finds(&[])], &[&finds(&[])]])
        .agent("ja", &["cwd", looks])
        .agent("jb", &[looks])
        .model("jc", &[edits]);
    let repo = Repo::of(TestEnv::new().set("TEAM_ISOLATION", "none"), &config);
    repo.review(&["--judges", "ja,jb,jc"], 1);
    let session = repo.session();
    let round = session.round("reviews/impl-review/judging");
    for model in ["ja", "jb"] {
        let reply = round.text(&format!("response-{}.md", round.id_of(model)));
        assert!(reply.contains("VERDICT: SUSTAIN"), "{reply}");
        let prompt = round.text(&format!("prompt-{}.md", round.id_of(model)));
        assert!(prompt.contains("the repository stands in your current directory"), "{prompt}");
    }
    assert_eq!(round.slot(&round.id_of("jc"))["error"]["reason"], "workspace_changed");
    assert_eq!(session.text("workspace/src/sum.rs"), super::world::FAULTY);
    finish(&repo.env, &["verify"], 0);
    // Reviewers that are none do not keep it from them.
    let server = said_by_reviewers();
    let config = provider(reviewers(&[]), "far", &server).agent("ja", &[looks]).agent("jb", &[looks]);
    let repo = Repo::with(&config);
    repo.review(&["-m", "far@one,far@two", "--judges", "ja,jb"], 1);
    let round = repo.session().round("reviews/impl-review/judging");
    let reply = round.text(&format!("response-{}.md", round.id_of("ja")));
    assert!(reply.contains("VERDICT: SUSTAIN"), "{reply}");
}

/// Two models of a provider that find the planted fault, each in a request of its own.
fn said_by_reviewers() -> Server {
    Server::start(|request| match request.body["model"] == "one" {
        true => said(&json!({ "findings": [planted()] }).to_string()),
        false => said(&json!({ "findings": [] }).to_string()),
    })
}

#[test]
fn judges_without_hands_see_what_stands_at_the_place_and_nothing_that_is_not_in_the_repository() {
    let far: String = (1..=80).map(|number| format!("fn number_{number}() {{}}\n")).collect();
    let outside = finding("high", "outside", 1, "A link leads out", "It leads out of the repository.");
    let distant = finding("high", "src/far.rs", 40, "Nobody calls it", "It is called by nobody.");
    let secret = finding("high", ".env", 1, "A key is there", "It holds a key.");
    let config = reviewers(&[&[&finds(&[planted(), distant, outside, secret])], &[&finds(&[])], &[&finds(&[])]]);
    let server = Server::start(|_| said("I cannot say."));
    let repo = Repo::with(&provider(config, "far", &server));
    repo.env.write("src/far.rs", far);
    repo.env.write("../beside", "nobody may read this\n");
    repo.env.write(".env", "KEY=nobody-may-read-that\n");
    std::os::unix::fs::symlink("../beside", repo.env.path("outside")).unwrap();
    repo.git(&["checkout", "-q", "main"]);
    repo.commit("what was there before");
    repo.git(&["checkout", "-q", "topic"]);
    repo.git(&["rebase", "-q", "main"]);
    repo.review(&["--judges", "far@one,far@two"], 3);
    let asked = prompts(&server);
    // Each of them twice: nothing that it said could be read.
    assert_eq!(asked.len(), 4);
    for prompt in asked {
        assert!(prompt.contains("==== src/far.rs, lines 32 to 48 of 80\n   32  fn number_32() {}\n"), "{prompt}");
        assert!(!prompt.contains("==== src/sum.rs"), "the change shows it: {prompt}");
        assert!(!prompt.contains("nobody may read this") && !prompt.contains("nobody-may-read-that"), "{prompt}");
        assert!(!prompt.contains(&repo.env.project().display().to_string()), "{prompt}");
    }
}

/// What a reviewer is handed, and says.
const KEY: &str = "Zq7-given.value/with+signs";

#[test]
fn a_key_that_a_reviewer_repeats_reaches_no_ledger_no_report_and_nobody_elses_model() {
    let shaped = format!("{}-ant-api03-{}", "sk", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567");
    let text = format!("The key {KEY} and {shaped} are in the code");
    let mut tells = finding("high", "src/sum.rs", 3, "The last item is never summed", &text);
    for field in ["title", "evidence", "suggestion"] {
        tells[field] = format!("{} never summed: {KEY} {shaped}", tells[field].as_str().unwrap()).into();
    }
    let seen = |repo: &Repo, server: &Server| {
        let asked = prompts(server);
        assert!(asked.iter().any(|prompt| prompt.contains("never summed: [redacted] [redacted]")), "{asked:#?}");
        for prompt in &asked {
            assert!(!prompt.contains(KEY) && !prompt.contains(&shaped), "{prompt}");
        }
        for file in repo.session().files() {
            let is_reply = ["/response-", "work/", "roles/reviewer-"].iter().any(|part| file.contains(part));
            let text = repo.session().path(&file);
            let text = String::from_utf8_lossy(&std::fs::read(text).unwrap()).into_owned();
            assert!(is_reply || !text.contains(KEY) && !text.contains(&shaped), "{file}: {text}");
        }
        finish(&repo.env, &["verify"], 0);
    };
    // A program that was handed it, and a variable of the command that nobody was.
    let env = TestEnv::new().set("SOME_API_KEY", KEY);
    // Not in the command itself: that is in the manifest.
    let script = env.write("../script", finds(&[tells.clone()]));
    let config = reviewers(&[&[&format!("@{}", script.display())], &[&finds(&[])]]);
    let server = Server::start(|_| said("I cannot say."));
    let repo = Repo::of(env, &provider(config, "far", &server));
    let (out, err) =
        repo.review(&["--judges", "far@one,far@two", "--sarif", "out/r.sarif", "--markdown", "out/r.md"], 3);
    let sarif = std::fs::read_to_string(repo.env.path("out/r.sarif")).unwrap();
    let summary = std::fs::read_to_string(repo.env.path("out/r.md")).unwrap();
    for shown in [out, err, sarif, summary] {
        assert!(!shown.contains(KEY) && !shown.contains(&shaped), "{shown}");
    }
    seen(&repo, &server);
    // A model that was given its own key says it.
    let server = Server::start(move |request| match request.body["model"] == "tells" {
        true => said(&json!({ "findings": [tells.clone()] }).to_string()),
        false => said("{\"findings\": []}"),
    });
    let key = [
        ("wire", "openai-chat".into()),
        ("base_url", server.url("v1").into()),
        ("api_key_env", "QUIETLY_TOLD".into()),
        ("json_schema", true.into()),
    ];
    let judges = Server::start(|_| said("I cannot say."));
    let config = provider(reviewers(&[]), "far", &judges).provider("near", &key);
    let repo = Repo::of(TestEnv::new().set("QUIETLY_TOLD", KEY), &config);
    repo.review(&["-m", "near@tells,near@quiet", "--judges", "far@one,far@two"], 3);
    seen(&repo, &judges);
}
