//! The report of a vote on a task.

use super::report_of;
use crate::support::{TeamToml, TestEnv, finish};

#[test]
fn a_vote_on_a_task_is_told_with_its_bar_its_members_and_their_reasons() {
    let ballot = |verdict: &str, summary: &str| {
        format!(
            "print ```vote\\nVERDICT: {verdict}\\nCONFIDENCE: 8\\nSUMMARY: {summary}\\nKEY_ISSUES: It locks <b>all</b>\\n```"
        )
    };
    let config = TeamToml::new()
        .agent("kiwi", &[&ballot("APPROVE", "Fine by me.")])
        .agent("plum", &[&ballot("APPROVE", "Good.")])
        .agent("sloe", &[&ballot("REJECT", "Too risky <script>x</script>")])
        .agent("dead", &["stderr no route", "exit 3"])
        .panel(&["kiwi", "plum", "sloe", "dead"]);
    let env = TestEnv::with(&config);
    finish(&env, &["vote", "Shall we migrate at night?"], 0);
    let report = report_of(&env, 0);
    report.assert_nested();
    let text = report.text();
    for part in [
        "APPROVED",
        "majority",
        "Fine by me.",
        "Too risky <script>x</script>",
        "It locks <b>all</b>",
        "kiwi",
        "Verified",
        "no route",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let kinds = |kind: &str| report.elements("td").filter(|cell| cell.class("vote") && cell.class(kind)).count();
    assert_eq!([kinds("approve"), kinds("reject"), kinds("missing")], [2, 1, 1]);
    let (printed, _) = finish(&env, &["report", "--text"], 0);
    for part in ["APPROVED", "Too risky", "plum: approves (8)", "Quorum"] {
        assert!(printed.contains(part), "{part}:\n{printed}");
    }
}
