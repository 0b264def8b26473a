//! What is left of a session that was cut off.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;

use jiff::Timestamp;
use team::engine::{ResumeOptions, Resumption};
use team::ids::Sha256Hash;
use team::model::{ModelIdentity, ModelSettings, OutputFormat, ResolvedModel, Target};
use team::session::{Event, Layout, NewSession, Session, SessionKind, SlotEnd};

use crate::measure::{medians, time};
use crate::table::Row;

const SLOTS: usize = 120;
const TURNS: usize = 9;
const ANSWER: usize = 64 << 10;

pub(crate) fn rows(_scale: f64) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let layout = cut_off(folder.path());
    let mut ours = || {
        time(|| {
            let session = Session::open(layout.clone()).unwrap();
            let left = Resumption::of(&session, ResumeOptions::default()).unwrap();
            assert_eq!(black_box(left.slots()).len(), SLOTS / 2);
        })
    };
    let [ours] = medians(TURNS, [&mut ours]);
    vec![Row::time(format!("what is left of {SLOTS} slots, half of them with answers of 64 KiB"), ours)]
}

/// A session whose owner is gone: half of the slots are complete, a quarter ran, a quarter had not begun.
fn cut_off(base: &Path) -> Layout {
    let model = |number| ResolvedModel {
        name: format!("m{number}"),
        identity: ModelIdentity(format!("m{number}")),
        target: Target::Replay { file: "none".into(), output: OutputFormat::Text, pace: None },
        settings: ModelSettings::default(),
    };
    let new = NewSession {
        base,
        kind: SessionKind::Team,
        title: "bench",
        input: b"x",
        task: None,
        models: (0..SLOTS).map(model).collect(),
        isolation: "none".to_owned(),
        prompts: BTreeMap::new(),
        plan: None,
        judges: None,
        pipeline: None,
    };
    let mut session = Session::create(new, Timestamp::now(), &mut rand::rng()).unwrap();
    let layout = session.layout().clone();
    let slots: Vec<_> = session.panel().status().models.keys().copied().collect();
    for (at, slot) in slots.into_iter().enumerate().take(SLOTS * 3 / 4) {
        let panel = session.panel_mut();
        panel.record(Event::SlotStarted { slot, attempt: 1 }, Timestamp::now()).unwrap();
        if at < SLOTS / 2 {
            let answer = vec![b'a'; ANSWER];
            std::fs::write(layout.response(slot), &answer).unwrap();
            let end = SlotEnd::with_answer(1, ANSWER as u64, Sha256Hash::of(&answer));
            panel.record(Event::SlotEnded { slot, end: Box::new(end) }, Timestamp::now()).unwrap();
        }
    }
    layout
}
