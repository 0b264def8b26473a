//! Prompts of judges, next to joining and writing the same answers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use team::config::{Leaks, ModelIdentity, SelfVote};
use team::ids::SlotId;
use team::judging::{Answer, BallotForm, CopyRules, Judge, JudgePrompts, LeakScan, Vendors, assign};
use team::prompts::Prompts;

use crate::measure::{medians, time};
use crate::table::Row;

const ANSWERS: usize = 64;
const ANSWER_BYTES: usize = 64 << 10;
const TURNS: usize = 5;

pub(crate) fn rows(_scale: f64) -> Vec<Row> {
    let texts: Vec<String> = (0..ANSWERS).map(answer).collect();
    [64, 1].into_iter().map(|judges| row(&texts, judges)).collect()
}

fn row(texts: &[String], judges: usize) -> Row {
    let dir = tempfile::Builder::new().prefix("team-bench-").tempdir().unwrap();
    let path = dir.path().join("prompt.md");
    let mut written = 0;
    let mut ours = || {
        let (time, bytes) = prompts_of(texts, judges, &path);
        written = bytes;
        time
    };
    let mut joined = 0;
    let mut other = || {
        joined = 0;
        time(|| {
            for judge in 0..judges {
                // Each judge has an order of its own; nobody sees its own seat's answer.
                let own = if judges == 1 { None } else { Some(judge) };
                let order = (1..=ANSWERS).map(|step| (judge + step) % ANSWERS).filter(|at| Some(*at) != own);
                let text: String = order.map(|at| texts[at].as_str()).collect();
                write(&path, |out| out.write_all(text.as_bytes()).unwrap());
                joined += text.len();
            }
        })
    };
    let [ours, other] = medians(TURNS, [&mut ours, &mut other]);
    assert!(written > joined && written < joined + joined / 50, "{written} bytes of prompts, {joined} of answers");
    if judges == 1 {
        // The copies that are made once for all judges, paid by one.
        return Row::information("prompt of a single judge, 64 answers of 64 KiB / the same", ours, other);
    }
    Row::ratio(format!("prompts of {judges} judges, 64 answers of 64 KiB / join and write"), ours, other, 2.0)
}

/// From answers in memory to prompts in files, as a round of votes does it.
fn prompts_of(texts: &[String], judges: usize, path: &Path) -> (Duration, usize) {
    let ids: Vec<SlotId> = SlotId::panel(ANSWERS).collect();
    let identity = |name: &str| ModelIdentity(name.to_owned());
    let answers: Vec<Answer> =
        ids.iter().map(|id| Answer { id: *id, identity: identity("same"), vendors: Vendors::new() }).collect();
    let judges: Vec<Judge> = SlotId::panel(judges)
        .map(|id| Judge {
            id,
            identity: identity("same"),
            vendors: Vendors::new(),
            seat: (judges > 1).then_some(id),
            context_tokens: Some(10_000_000),
        })
        .collect();
    let embedded = Prompts::embedded().unwrap();
    let mut bytes = 0;
    let scan = LeakScan::new(["panel-model-1", "panel-model-2"]);
    let rules = CopyRules { scan: &scan, leaks: Leaks::Mask };
    let time = time(|| {
        let drawn = assign(&answers, &judges, SelfVote::Slot, &mut rand::rng()).unwrap();
        let texts = ids.iter().zip(texts).map(|(id, text)| (*id, text.as_bytes()));
        let prompts = JudgePrompts::new(&embedded, b"What is the answer?\n", texts, rules);
        let fitted = prompts.fit(drawn, &judges, |_| BallotForm::Blocks).unwrap();
        assert!(fitted.refused.is_empty() && fitted.left_out.is_empty());
        for assignment in &fitted.assignments {
            write(path, |out| prompts.write(assignment, BallotForm::Blocks, out).unwrap());
            bytes += path.metadata().unwrap().len() as usize;
        }
    });
    (time, bytes)
}

fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<File>)) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    fill(&mut out);
    out.flush().unwrap();
}

/// Markdown as models write it: prose, lists, code, a few letters beyond ASCII.
fn answer(number: usize) -> String {
    let mut text = format!("# Answer {number}\n\n");
    let paragraph = "The cache is filled on the first call – every later one is served from it – so a miss costs twice \
                     what it did before, and that is what the naïve benchmark shows.\n\n- one thing to do\n- another, \
                     with `code` in it\n\n```rust\nfn answer() -> u32 {\n    42\n}\n```\n\n";
    while text.len() + paragraph.len() < ANSWER_BYTES {
        text.push_str(paragraph);
    }
    text.push_str(&".".repeat(ANSWER_BYTES - text.len() - 1));
    text.push('\n');
    text
}
