//! Judged sessions: panels of agents that vote by a rule, and what must hold of every folder.

use std::collections::BTreeMap;

use serde_json::Value;
use team::judging::{Replies, Votes};
use team::session::{Event, History, Layout, Round, Turn};

use super::{Session, TeamToml, TestEnv};

/// The ballot that approves `{alias}` for the agent's `vote each`.
pub(crate) const APPROVE: &str =
    "```vote\\nRESPONSE: {alias}\\nVERDICT: APPROVE\\nCONFIDENCE: 8\\nSUMMARY: Fine.\\nKEY_ISSUES: None\\n```\\n";

/// A `team.toml` of agents that answer `TEXT` and vote by `RULE`; they are the default panel.
pub(crate) fn voters(agents: &[(&str, &str, &str)]) -> TeamToml {
    let names: Vec<&str> = agents.iter().map(|(name, ..)| *name).collect();
    agents
        .iter()
        .fold(TeamToml::new(), |config, (name, answer, rule)| {
            config.agent(name, &[&format!("answer {answer}"), &format!("vote {rule}")])
        })
        .panel(&names)
}

/// Runs and judges the default panel with `options`; fails unless it exits with `code`. Gives stdout and stderr.
#[track_caller]
pub(crate) fn run_and_judge(env: &TestEnv, options: &[&str], code: i32) -> (String, String) {
    finish(env, &[&["run-and-judge", "Which one is it?"], options].concat(), code)
}

/// Runs the program to its end; fails unless it exits with `code`. Gives stdout and stderr.
#[track_caller]
pub(crate) fn finish(env: &TestEnv, arguments: &[&str], code: i32) -> (String, String) {
    let output = env.team(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    (out, err)
}

/// Every judge of `votes.json` by its model.
pub(crate) fn judges(round: &Session) -> BTreeMap<String, Value> {
    let manifest = round.json("manifest.json");
    let votes = round.json("votes.json");
    let judges = votes["judges"].as_array().unwrap();
    let name = |judge: &Value| manifest["models"][judge["id"].as_str().unwrap()]["model"].as_str().unwrap().to_owned();
    judges.iter().map(|judge| (name(judge), judge.clone())).collect()
}

/// Fails unless both chains of every round hold, are tied to each other and sealed, every recorded hash is that of its
/// file, the verdict is what the votes come to, and `team verify` finds the same.
#[track_caller]
pub(crate) fn assert_consistent(session: &Session) {
    let layout = Layout::new(session.dir());
    let own = History::read(&layout.events()).unwrap();
    let seal = &session.json("session-meta.json")["events"];
    assert_eq!(seal["count"], own.records.len());
    assert_eq!(seal["head"], own.head.to_string());
    assert_hashes(session, &own);
    let rounds = layout.rounds();
    for round in &rounds {
        let folder = session.round(&round.folder());
        let history = History::read(&layout.round(*round).events()).unwrap();
        let Event::Created { parent: Some(parent), .. } = &history.records[0].event else { panic!("no parent") };
        assert_eq!(parent.round, Some(*round));
        let opened = own.records.iter().position(|r| matches!(r.event, Event::RoundOpened { round: r } if r == *round));
        assert_eq!(Some(parent.head), own.records[opened.unwrap() + 1].prev, "the round is tied to its opening");
        let closed = own.records.iter().rev().find_map(|record| match &record.event {
            Event::RoundClosed { round: r, events, head } if r == round => Some((*events, *head)),
            _ => None,
        });
        assert_eq!(closed, Some((history.records.len() as u64, history.head)));
        assert_hashes(&folder, &history);
        assert_turns(&folder, *round, &history);
        if folder.has("votes.json") {
            assert_reread(&folder);
        }
        if folder.has("verdict.json") {
            let again = team::verdict::recompute(folder.text("votes.json").as_bytes()).unwrap();
            assert_eq!(String::from_utf8(again).unwrap(), folder.text("verdict.json"));
        }
    }
    let found = team::engine::verify(&layout, None).unwrap();
    assert!(found.verified, "{found:#?}");
    let newest =
        rounds.iter().rev().map(|round: &Round| session.round(&round.folder())).find(|r| r.has("verdict.json"));
    if let Some(newest) = newest {
        assert_eq!(session.text("verdict.json"), newest.text("verdict.json"));
        assert_eq!(session.text("verdict.md"), newest.text("verdict.md"));
    }
}

/// Fails unless every turn inside of `folder` is tied to its record and sealed in it, and no other folder looks like one.
#[track_caller]
fn assert_turns(folder: &Session, round: Round, history: &History) {
    for turn in Turn::ALL {
        let opened =
            history.records.iter().position(|r| matches!(r.event, Event::TurnOpened { turn: t, .. } if t == turn));
        assert_eq!(folder.has(turn.folder()), opened.is_some(), "{}", turn.folder());
        let Some(opened) = opened else { continue };
        let inside = folder.round(turn.folder());
        let own = History::read(&Layout::new(inside.dir()).events()).unwrap();
        let Event::Created { parent: Some(parent), slots, .. } = &own.records[0].event else { panic!("no parent") };
        assert_eq!((parent.round, parent.turn), (Some(round), Some(turn)));
        assert_eq!(Some(parent.head), history.records[opened + 1].prev, "the turn is tied to its opening");
        let Event::TurnOpened { judges, .. } = &history.records[opened].event else { unreachable!() };
        assert_eq!(judges, slots);
        let closed = history.records.iter().rev().find_map(|record| match &record.event {
            Event::TurnClosed { turn: t, events, head } if *t == turn => Some((*events, *head)),
            _ => None,
        });
        assert_eq!(closed, Some((own.records.len() as u64, own.head)));
        assert_eq!(inside.text("manifest.json"), folder.text("manifest.json"), "judges keep their ids");
        assert_hashes(&inside, &own);
        assert_turns(&inside, round, &own);
    }
}

/// Fails unless reading every reply again gives the ballots on record.
#[track_caller]
fn assert_reread(folder: &Session) {
    let votes = Votes::from_json(folder.text("votes.json").as_bytes()).unwrap();
    for judge in &votes.judges {
        let reply = |inside: &str| std::fs::read(folder.path(&format!("{inside}response-{}.md", judge.id))).ok();
        let (first, repair) = (reply(""), reply("repair/"));
        let (second, second_repair) = (reply("pass-2/"), reply("pass-2/repair/"));
        let replies = Replies {
            first: first.as_deref(),
            repair: repair.as_deref(),
            second: second.as_deref(),
            second_repair: second_repair.as_deref(),
        };
        assert_eq!(&judge.reread(replies).unwrap(), judge);
    }
}

/// The newest record of a file is its hash.
fn assert_hashes(folder: &Session, history: &History) {
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    for record in &history.records {
        match &record.event {
            Event::SlotEnded { slot, end } => {
                expected.extend(end.sha256.map(|hash| (format!("response-{slot}.md"), hash.to_string())));
            }
            Event::PromptWritten { judge, sha256 } => {
                expected.insert(format!("prompt-{judge}.md"), sha256.to_string());
            }
            Event::Verdict { votes, verdict_json, verdict_md, .. } => {
                expected.extend(votes.map(|hash| ("votes.json".to_owned(), hash.to_string())));
                expected.insert("verdict.json".to_owned(), verdict_json.to_string());
                expected.insert("verdict.md".to_owned(), verdict_md.to_string());
            }
            _ => {}
        }
    }
    for (file, hash) in expected {
        assert_eq!(sha256(folder.text(&file).as_bytes()), hash, "{file}");
    }
}

/// As `sha256sum` prints it.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
