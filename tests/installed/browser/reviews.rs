//! Reports of reviews in a real browser, and long names on a phone.

use std::process::Command;

use serde_json::{Value, json};

use super::chromium::Browser;
use super::proxy::Proxy;
use super::{PALE, assert_fits, assert_quiet, report};
use crate::support::{TeamToml, TestEnv, run_and_judge};

fn git(env: &TestEnv, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(env.path("")).args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(arguments);
    assert!(command.status().unwrap().success(), "{arguments:?}");
}

/// The step of a reviewer that finds these.
fn finds(findings: &[Value]) -> String {
    let block = json!({ "findings": findings }).to_string().replace('\\', "\\\\");
    format!("answer I looked.\\n\\n```findings\\n{block}\\n```")
}

/// A review with a hundred findings of which one is an attack, and one with a very long title, path and evidence.
fn reviewed() -> TestEnv {
    let finding = |number: u32| {
        json!({
            "severity": if number < 20 { "high" } else { "low" }, "action": "ask-user",
            "file": format!("src/part{number}.rs"), "line": number + 1, "title": format!("Part {number} is off"),
            "description": format!("It is number {number} that is wrong."), "evidence": "let a = 1;", "suggestion": "Mend it.",
        })
    };
    let mut findings: Vec<Value> = (0..98).map(finding).collect();
    findings.push(json!({
        "severity": "critical", "action": "ask-user", "file": "src/evil.rs", "line": 1,
        "title": "</h4></article><script>window.pwned = 1</script>",
        "description": "<img src=http://evil.example/a onerror=\"window.pwned=2\">\u{202e}",
        "evidence": "</pre></details><script>window.pwned = 3</script>", "suggestion": "[x](javascript:window.pwned=4)",
    }));
    findings.push(json!({
        "severity": "medium", "action": "ask-user", "file": format!("src/{}.rs", "very_long_name_".repeat(20)), "line": 1,
        "title": "unbroken".repeat(20), "description": "unbroken".repeat(100), "evidence": "x".repeat(1000),
        "suggestion": "y".repeat(400),
    }));
    let long = "a-reviewer-whose-name-in-the-settings-is-longer-than-sixty-characters";
    let env = TestEnv::new();
    // In a file: on its command line they would be words by which the reviewer could name itself.
    let steps = format!("@{}", env.write("steps", format!("{}\nweigh sustain\n", finds(&findings))).display());
    let config = TeamToml::new()
        .agent("kiwi", &[&steps])
        .agent(long, &[&finds(&[]), "weigh sustain"])
        .agent("dead", &["answer I like it.", "weigh reject"])
        .panel(&["kiwi", long, "dead"]);
    env.write("team.toml", config.text());
    git(&env, &["init", "-q", "-b", "main"]);
    env.write(".gitignore", "/ai-docs/\n/steps\n");
    env.write("src/a.rs", "one\n");
    git(&env, &["add", "-A"]);
    git(&env, &["commit", "-q", "-m", "base"]);
    git(&env, &["checkout", "-q", "-b", "topic"]);
    env.write("src/a.rs", "two\n");
    git(&env, &["commit", "-q", "-a", "-m", "two"]);
    let output = env.team(&["review"]).output().unwrap();
    assert!(matches!(output.status.code(), Some(1 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    env
}

#[test]
fn a_review_of_a_hundred_findings_is_read_filtered_and_printed_and_nothing_of_them_runs() {
    let env = reviewed();
    let proxy = Proxy::start();
    let mut browser = Browser::start(proxy.address());
    let url = report(&env);
    browser.open(&url);
    let shown = "[...document.querySelectorAll('article.finding')].filter((part) => part.offsetParent).length";
    assert_eq!(browser.value(shown), 100);
    // Many are closed at first; a link to one opens it.
    assert_eq!(browser.value("document.querySelectorAll('article.finding > details[open]').length"), 0);
    browser.value("document.querySelector('#finding-filters input[value=low]').click()");
    assert_eq!(browser.value(shown), 22);
    assert_eq!(browser.value("document.getElementById('finding-count').textContent"), "22 of 100 shown");
    browser.value("(() => { const find = document.getElementById('find'); find.value = 'PART7.RS'; find.dispatchEvent(new Event('input', { bubbles: true })); })()");
    assert_eq!(browser.value(shown), 1);
    browser.value("document.getElementById('open-findings').click()");
    assert_eq!(browser.value("document.querySelectorAll('article.finding > details[open]').length"), 1);
    // A link shows also what a filter hides.
    let hidden = "[...document.querySelectorAll('article.finding')].find((part) => part.hidden).id";
    let id = browser.value(hidden);
    let id = id.as_str().unwrap().to_owned();
    browser.value(&format!(
        "new Promise((done) => {{ addEventListener('hashchange', () => setTimeout(done)); location.hash = '{id}'; }})"
    ));
    assert_eq!(browser.value(&format!("document.querySelector('#{id} > details').open")), true);
    assert_eq!(browser.value(shown), 100);

    browser.value("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
    for scheme in ["light", "dark"] {
        browser.screen(1280, scheme);
        assert_eq!(browser.value(PALE), json!([]), "{scheme}");
    }
    for width in [320, 768] {
        browser.screen(width, "light");
        assert_fits(&mut browser, width);
    }
    browser.call("Page.printToPDF", json!({}));
    assert_eq!(browser.value("typeof window.pwned"), "undefined");
    assert!(browser.value("document.body.textContent").as_str().unwrap().contains("window.pwned = 3"));
    assert_quiet(&browser, &url);
    assert!(proxy.asked_for("evil.example").is_empty());
}

#[test]
fn names_that_are_long_fit_where_two_answers_are_compared_on_a_phone() {
    let names = ["one", "two"].map(|name| format!("{name}-{}", "of-a-house-with-a-very-long-name-".repeat(3)));
    let config =
        names.iter().fold(TeamToml::new(), |config, name| config.agent(name, &["answer Plan.", "vote approve"]));
    let env = TestEnv::new();
    env.write("team.toml", config.panel(&[&names[0], &names[1]]).text());
    run_and_judge(&env, &["--self-vote", "include"], 0);
    let proxy = Proxy::start();
    let mut browser = Browser::start(proxy.address());
    let url = report(&env);
    browser.open(&url);
    assert_eq!(browser.value("document.querySelectorAll('#comparison option').length"), 7);
    for width in [320, 1280] {
        browser.screen(width, "light");
        assert_fits(&mut browser, width);
    }
    assert_quiet(&browser, &url);
}
