//! How many requests a provider gets at once, and what one slot was asked without, on every wire.

use super::faults::PIECES;
use super::wires::{KEY, MODEL, OpenaiChat, WIRES, Wire, said};
use crate::support::{Answer, Gate, Server, TeamToml, TestEnv, assert_consistent, run_and_judge, voters, wait_until};

/// The ballot of a judge that approves all it is shown.
fn ballot(prompt: &str) -> String {
    let aliases = prompt.split("### Response ").skip(1).filter_map(|part| part.split_whitespace().next());
    let vote = |alias: &str| {
        format!("```vote\nRESPONSE: {alias}\nVERDICT: APPROVE\nCONFIDENCE: 8\nSUMMARY: Fine.\nKEY_ISSUES: None\n```\n")
    };
    aliases.map(vote).collect()
}

#[test]
fn no_more_than_the_limit_are_asked_at_once_as_slots_and_as_judges() {
    const SEATS: usize = 5;
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(move |request| {
        let prompt = OpenaiChat.prompt(&request.body).unwrap();
        let text = if prompt.contains("### Response ") { ballot(prompt) } else { PIECES.concat() };
        Answer::nothing().hold(&held).then(said(&OpenaiChat, &[&text]))
    });
    let names: Vec<String> = (1..=SEATS).map(|seat| format!("quoll{seat}")).collect();
    let provider =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("max_concurrent", 2.into())];
    let mut config =
        TeamToml::new().panel(&names.iter().map(String::as_str).collect::<Vec<_>>()).provider("wombat", &provider);
    for name in &names {
        config = config.model(name, &[("use", format!("wombat@{name}-1").into())]);
    }
    let env = TestEnv::with(&config);
    let mut team = env.start(&["run-and-judge", "Which one is it?"]);
    // Each one that is let go makes room for exactly one more; two are there until the last of a round is.
    for round in 0..2 {
        for done in 0..SEATS {
            let under_way = (SEATS - done).min(2);
            let asked = round * SEATS + done + under_way;
            wait_until("the next request", || {
                assert!(!team.has_ended(), "{}", team.stderr());
                (server.requests().len() == asked && gate.held() == under_way).then_some(())
            });
            gate.let_one_through();
        }
    }
    assert_eq!(team.wait().code(), Some(0), "{}", team.stderr());
    assert_eq!((server.requests().len(), server.most_at_once()), (2 * SEATS, 2));
    assert_consistent(&env.session());
}

#[test]
fn on_every_wire_a_setting_that_a_slot_was_asked_without_is_in_the_verdict() {
    let server = Server::start(|request| {
        let wire = WIRES.into_iter().find(|wire| wire.name() == request.cell()).unwrap();
        let setting = wire.refused_setting();
        match request.body.pointer(setting.pointer) {
            Some(_) => Answer::json(400, &setting.refusal),
            None => said(wire, &PIECES),
        }
    });
    let mut config = voters(&[("kiwi", "an answer", "approve"), ("plum", "another answer", "approve")]);
    for wire in WIRES {
        let setting = wire.refused_setting();
        let keys = [
            ("wire", wire.name().into()),
            ("base_url", server.url(wire.name()).into()),
            ("api_key_env", "WOMBAT_API_KEY".into()),
        ];
        let model = [("use", format!("wombat-{}@{MODEL}", wire.name()).into()), (setting.key, setting.value)];
        config =
            config.provider(&format!("wombat-{}", wire.name()), &keys).model(&format!("quoll-{}", wire.name()), &model);
    }
    let env = TestEnv::with(&config).set("WOMBAT_API_KEY", KEY);
    let quolls: Vec<String> = WIRES.iter().map(|wire| format!("quoll-{}", wire.name())).collect();
    let panel = format!("kiwi,plum,{}", quolls.join(","));
    let (out, _) = run_and_judge(&env, &["-m", &panel, "--judges", "kiwi,plum"], 0);
    let session = env.session();
    for wire in WIRES {
        let id = session.id_of(&format!("quoll-{}", wire.name()));
        let key = wire.refused_setting().key;
        let note = format!("- Note: slot {id} was asked without `{key}`, which its provider does not take");
        assert!(out.contains(&note), "{}: no {note:?} in {out}", wire.name());
    }
    assert_consistent(&session);
}
