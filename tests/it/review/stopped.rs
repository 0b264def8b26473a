//! A review that a signal stops in each of its phases, or of which a person cancels a seat: the record stays whole, and
//! who was done is not asked again.

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;

use super::world::{Repo, finds, planted, reply, reviewers};
use crate::support::{Background, TeamToml, finish, wait_until};

/// A reviewer of which every reply can be read only from the `good`-th on, and that waits at a gate from the second on.
fn slow_to_learn(repo: &Repo, good: u32) -> TeamToml {
    let path = |name: &str| repo.env.path(&format!("../{name}")).display().to_string();
    nix::unistd::mkfifo(&repo.env.path("../gate"), Mode::S_IRWXU).unwrap();
    let said = reply(&[]).replace("\\n", "\n");
    std::fs::write(path("said"), said).unwrap();
    let script = format!(
        "cat > /dev/null; echo x >> {asked}; n=$(wc -l < {asked}); \
         test $n -gt 1 && {{ test -e {open} || {{ touch {begun}; cat {gate}; }}; }}; \
         if test $n -ge {good}; then cat {said}; else echo prose; fi",
        asked = path("asked"),
        open = path("open"),
        begun = path("begun"),
        gate = path("gate"),
        said = path("said"),
    );
    let command = toml::Value::from(vec!["sh", "-c", &script]);
    let weigh = "weigh sustain";
    let judges: toml::Table = toml::from_str("judges = [\"ja\", \"jb\"]").unwrap();
    TeamToml::new()
        .agent("ra", &[&finds(&[planted()])])
        .agent("rb", &[&finds(&[planted()])])
        .model("rc", &[("command", command)])
        .agent("ja", &[weigh])
        .agent("jb", &[weigh])
        .panel(&["ra", "rb", "rc"])
        .key("review", toml::Value::Table(judges))
}

fn begun(repo: &Repo) -> Background {
    let running = repo.env.start(&["review"]);
    let begun = repo.env.path("../begun");
    wait_until("the second word", || begun.exists().then_some(()));
    running
}

#[test]
fn a_review_that_is_stopped_while_a_reviewer_is_asked_once_more_goes_on_with_a_whole_record() {
    let repo = Repo::with(&reviewers(&[&["print placeholder"]]));
    // The turn that was stopped is made again, and one more after it.
    repo.env.write("team.toml", slow_to_learn(&repo, 4).text());
    let mut running = begun(&repo);
    running.signal(Signal::SIGINT);
    assert_eq!(running.wait().code(), Some(130), "{}", running.stderr());
    finish(&repo.env, &["verify"], 0);
    repo.env.write("../open", "");
    finish(&repo.env, &["resume"], 1);
    finish(&repo.env, &["verify"], 0);
    let session = repo.env.session();
    let slot = session.round("reviews/impl-review").id_of("rc");
    assert!(session.has(&format!("reviews/impl-review/fresh/response-{slot}.md")));
    assert_eq!(session.json("verdict.json")["seats"]["usable"], 3);
}

#[test]
fn a_reviewer_that_a_person_cancels_when_it_is_asked_once_more_is_not_asked_anew() {
    let repo = Repo::with(&reviewers(&[&["print placeholder"]]));
    repo.env.write("team.toml", slow_to_learn(&repo, 2).text());
    let mut running = begun(&repo);
    let session = repo.env.session();
    let slot = session.round("reviews/impl-review").id_of("rc");
    let (_, told) = finish(&repo.env, &["cancel", "latest", &slot], 0);
    assert!(told.contains(&format!("slot {slot} of")), "{told}");
    assert_eq!(running.wait().code(), Some(1), "{}", running.stderr());
    assert!(!session.has("reviews/impl-review/fresh"));
    assert_eq!(session.json("verdict.json")["seats"]["usable"], 2);
    let asked = std::fs::read_to_string(repo.env.path("../asked")).unwrap();
    assert_eq!(asked.lines().count(), 2);
    finish(&repo.env, &["verify"], 0);
}

/// A panel whose second judge waits at a gate before it votes, or says nothing that can be read first.
fn slow_to_vote(repo: &Repo, first: &str) -> TeamToml {
    let path = |name: &str| repo.env.path(&format!("../{name}")).display().to_string();
    let judges: toml::Table = toml::from_str("judges = [\"ja\", \"jb\"]").unwrap();
    TeamToml::new()
        .agent("ra", &[&finds(&[planted()])])
        .agent("rb", &[&finds(&[])])
        .agent("rc", &[&finds(&[])])
        .agent("ja", &["weigh sustain"])
        .agent(
            "jb",
            &[&format!("touch {}", path("begun")), &format!("wait-for {}", path("open")), first, "weigh again sustain"],
        )
        .panel(&["ra", "rb", "rc"])
        .key("review", toml::Value::Table(judges))
}

#[test]
fn a_review_that_is_stopped_during_the_vote_goes_on_with_a_whole_record() {
    let repo = Repo::with(&reviewers(&[&["print placeholder"]]));
    repo.env.write("team.toml", slow_to_vote(&repo, "weigh first garbage").text());
    let mut running = begun(&repo);
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait().code(), Some(143), "{}", running.stderr());
    finish(&repo.env, &["verify"], 0);
    repo.env.write("../open", "");
    finish(&repo.env, &["resume"], 1);
    finish(&repo.env, &["verify"], 0);
    assert!(repo.env.session().has("reviews/impl-review/judging/repair"));
}

#[test]
fn a_judge_of_findings_can_be_cancelled_alone() {
    let repo = Repo::with(&reviewers(&[&["print placeholder"]]));
    repo.env.write("team.toml", slow_to_vote(&repo, "weigh first sustain").text());
    let mut running = begun(&repo);
    let slot = repo.env.session().round("reviews/impl-review/judging").id_of("jb");
    let (_, told) = finish(&repo.env, &["cancel", "latest", &slot], 0);
    assert!(told.contains(&format!("judge {slot} of")) && told.contains("is CANCELLED"), "{told}");
    assert_eq!(running.wait().code(), Some(1), "{}", running.stderr());
    finish(&repo.env, &["verify"], 0);
}
