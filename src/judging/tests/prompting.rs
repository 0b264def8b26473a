//! What a judge reads.

use std::collections::BTreeSet;

use super::{assignment, id, panel, rng};
use crate::config::{Leaks, SelfVote};
use crate::ids::SlotId;
use crate::judging::{
    AnswerCopy, Assignment, BallotForm, CopyRules, Coverage, JudgePrompts, LeakScan, PromptError, assign,
};
use crate::prompts::Prompts;

/// The prompts of `texts`, for a panel whose names nobody knows.
fn prompts_of<'a>(own: &'a Prompts, task: &str, texts: &[(SlotId, &str)]) -> JudgePrompts<'a> {
    let rules = CopyRules { scan: &LeakScan::new([""; 0]), leaks: Leaks::Mask };
    JudgePrompts::new(own, task.as_bytes(), texts.iter().map(|(id, text)| (*id, text.as_bytes())), rules)
}

pub(super) fn written(task: &str, texts: &[(SlotId, &str)], assignment: &Assignment, form: BallotForm) -> String {
    let prompts = Prompts::embedded().unwrap();
    let prompts = prompts_of(&prompts, task, texts);
    let mut out = Vec::new();
    prompts.write(assignment, form, &mut out).unwrap();
    assert_eq!(prompts.size(assignment, form).unwrap(), out.len() as u64);
    String::from_utf8(out).unwrap()
}

#[test]
fn each_answer_is_introduced_by_its_alias_and_fenced_with_the_nonce() {
    let assignment = assignment(2, 1);
    let texts = [(id(1), "First.\n"), (id(2), "Second.")];
    let prompt = written("What is it?", &texts, &assignment, BallotForm::Blocks);
    let nonce = &assignment.nonce;
    assert!(prompt.contains(&format!("BEGIN {nonce}\nWhat is it?\nEND {nonce}\n")), "{prompt}");
    for (id, alias) in &assignment.shown {
        let text = if id.number() == 1 { "First." } else { "Second." };
        assert!(prompt.contains(&format!("\n### Response {alias}\nBEGIN {nonce}\n{text}\nEND {nonce}\n")), "{prompt}");
    }
    let introductions = prompt.lines().filter(|line| line.starts_with("### Response")).count();
    assert_eq!(introductions, 2);
    assert_eq!(prompt.matches("```vote\n").count(), 2, "two worked examples");
    let aliases: Vec<&str> = assignment.shown.iter().map(|(_, alias)| alias.as_str()).collect();
    assert!(prompt.trim_end().ends_with(&aliases.join(", ")), "{prompt}");
    assert!(!prompt.contains('\u{1}'));
}

#[test]
fn the_json_form_asks_for_the_names_of_the_schema() {
    let assignment = assignment(2, 2);
    let prompt = written("T", &[(id(1), "a"), (id(2), "b")], &assignment, BallotForm::Json);
    assert!(!prompt.contains("```vote") && prompt.contains("{\"votes\": {"));
    let schema = crate::judging::schema(&assignment);
    let votes = &schema["properties"]["votes"];
    let aliases: Vec<&str> = assignment.shown.iter().map(|(_, alias)| alias.as_str()).collect();
    assert_eq!(votes["required"], serde_json::json!(aliases), "each name exactly once");
    for alias in aliases {
        for name in votes["properties"][alias]["properties"].as_object().unwrap().keys() {
            assert!(prompt.contains(&format!("\"{name}\":")), "{name}");
        }
    }
}

#[test]
fn templates_name_no_model_and_no_vendor() {
    let prompt = written("T", &[(id(1), "a"), (id(2), "b")], &assignment(2, 3), BallotForm::Blocks).to_lowercase();
    for name in
        ["claude", "gpt", "gemini", "llama", "codex", "openai", "anthropic", "google", "mistral", "grok", "qwen"]
    {
        assert!(!prompt.contains(name), "{name}");
    }
}

#[test]
fn a_template_without_a_place_for_the_answers_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    crate::fs::replace(&dir.path().join("judge.md"), b"{{ task }} {{ ballot_format }}").unwrap();
    let own = Prompts::load(Some(dir.path())).unwrap();
    let prompts = prompts_of(&own, "T", &[(id(1), "a"), (id(2), "b")]);
    let error = prompts.write(&assignment(2, 4), BallotForm::Blocks, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, PromptError::Place { file: "judge.md", place: "answers", count: 0 }));
    assert!(error.to_string().contains("{{ answers }}"), "{error}");
}

#[test]
fn a_template_in_an_answer_or_in_the_task_is_only_text() {
    let assignment = assignment(2, 5);
    let prompt = written(
        "{{ answers }}{{ 7 * 7 }}",
        &[(id(1), "{{ nonce }} {% raw %}"), (id(2), "b")],
        &assignment,
        BallotForm::Blocks,
    );
    assert!(prompt.contains("{{ answers }}{{ 7 * 7 }}") && prompt.contains("{{ nonce }} {% raw %}"));
}

#[test]
fn a_small_context_gets_a_balanced_subset_of_at_least_two() {
    let (answers, mut judges) = panel(6);
    judges.iter_mut().for_each(|judge| judge.context_tokens = Some(4000));
    let text = "word ".repeat(400);
    let own = Prompts::embedded().unwrap();
    let prompts = prompts_of(&own, "T", &answers.iter().map(|answer| (answer.id, text.as_str())).collect::<Vec<_>>());
    let assignments = assign(&answers, &judges, SelfVote::Model, &mut rng(6)).unwrap();
    let fitted = prompts.fit(assignments.clone(), &judges, |_| BallotForm::Blocks).unwrap();
    assert!(fitted.refused.is_empty());
    assert_eq!((fitted.assignments.len(), fitted.left_out.len()), (6, 6));
    for (fit, full) in fitted.assignments.iter().zip(&assignments) {
        assert!(prompts.size(fit, BallotForm::Blocks).unwrap() <= 4000 * 3 * 3 / 4);
        assert!(fit.shown.len() >= 2 && fit.shown.len() < 5);
        // The order stays that of the assignment.
        let kept: Vec<_> = full.shown.iter().filter(|shown| fit.shown.contains(shown)).cloned().collect();
        assert_eq!(kept, fit.shown);
    }
    let coverage = Coverage::assigned(&answers, &fitted.assignments);
    let counts: BTreeSet<usize> = answers.iter().map(|answer| coverage.of(answer.id)).collect();
    assert!(counts.last().unwrap() - counts.first().unwrap() <= 1, "{counts:?}");
}

#[test]
fn a_context_that_does_not_hold_two_answers_refuses_that_judge_only() {
    let (answers, mut judges) = panel(4);
    judges[1].context_tokens = Some(1500);
    let text = "word ".repeat(1000);
    let own = Prompts::embedded().unwrap();
    let prompts = prompts_of(&own, "T", &answers.iter().map(|answer| (answer.id, text.as_str())).collect::<Vec<_>>());
    let assignments = assign(&answers, &judges, SelfVote::Model, &mut rng(7)).unwrap();
    let fitted = prompts.fit(assignments, &judges, |_| BallotForm::Blocks).unwrap();
    assert_eq!(fitted.refused.len(), 1);
    assert_eq!(fitted.refused[0].judge, id(2));
    assert!(fitted.refused[0].to_string().contains("1500 tokens"));
    assert_eq!(fitted.assignments.len(), 3);
}

#[test]
fn cut_answers_are_marked_and_counted() {
    let own = Prompts::embedded().unwrap();
    let long = "x".repeat(100_000);
    let prompts = prompts_of(&own, "T", &[(id(1), long.as_str()), (id(2), "short")]);
    let cut: Vec<&AnswerCopy> = prompts.copies().filter(|copy| copy.left_out > 0).collect();
    assert_eq!(cut.len(), 1);
    let mut out = Vec::new();
    prompts.write(&assignment(2, 8), BallotForm::Blocks, &mut out).unwrap();
    let mark = format!("[... {} bytes are left out here ...]", cut[0].left_out);
    assert!(String::from_utf8(out).unwrap().contains(&mark));
}
