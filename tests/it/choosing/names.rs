//! Names are looked up at the providers that list their models.

use serde_json::json;

use crate::support::{Answer, ClosedPort, Request, Server, TeamToml, TestEnv, finish};

const NAMES: [&str; 3] = ["marsupial-4o", "marsupial-4o-mini", "monotreme-1"];

/// Lists [`NAMES`], has `listed-nowhere` as well, and answers.
fn answer(request: &Request) -> Answer {
    match request.path.as_str() {
        "/v1/models" => Answer::json(200, &json!({"data": NAMES.map(|id| json!({"id": id}))})),
        "/v1/models/listed-nowhere" => Answer::json(200, &json!({"id": "listed-nowhere"})),
        path if path.starts_with("/v1/models/") => Answer::json(404, &json!({"error": {"message": "no such model"}})),
        _ => said(),
    }
}

fn said() -> Answer {
    Answer::json(
        200,
        &json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}]}),
    )
}

fn env(server: &Server, config: TeamToml) -> TestEnv {
    let keys = [("wire", "openai-chat".into()), ("base_url", server.url("v1").into())];
    TestEnv::with(&config.provider("zoo", &keys)).set("TEAM_OFFLINE", "false")
}

fn paths(server: &Server) -> Vec<String> {
    server.requests().into_iter().map(|request| request.path).collect()
}

#[test]
fn a_name_that_the_provider_does_not_have_is_an_error_before_anything_is_made() {
    let server = Server::start(answer);
    let env = env(&server, TeamToml::new().model("short", &[("use", "zoo@monotreme".into())]));
    let (_, err) = finish(&env, &["run", "-m", "zoo@marsupial4o,zoo@monotreme-1", "x"], 2);
    assert!(err.contains("`zoo` has no model `marsupial4o`"), "{err}");
    assert!(err.contains("did you mean `zoo@marsupial-4o`, `zoo@marsupial-4o-mini`?"), "{err}");
    assert!(err.contains("`--offline`"), "{err}");
    let (_, err) = finish(&env, &["run-and-judge", "-m", "zoo@marsupial-4o", "--judges", "short", "x"], 2);
    assert!(err.contains("`short`: `zoo` has no model `monotreme`"), "{err}");
    assert_eq!(env.sessions().len(), 0);
    assert!(paths(&server).iter().all(|path| path.starts_with("/v1/models")), "{:?}", paths(&server));
}

#[test]
fn doctor_says_which_names_of_the_panel_their_providers_do_not_have() {
    let server = Server::start(answer);
    let env = env(&server, TeamToml::new().panel(&["zoo@monotreme-1", "zoo@monotreme-2"]));
    let (out, _) = finish(&env, &["doctor"], 2);
    assert!(out.contains("FAILED   zoo@monotreme-2  `zoo` has no model `monotreme-2`"), "{out}");
    assert!(
        out.contains("hint: did you mean `zoo@monotreme-1`?") && out.ends_with("not ready: zoo@monotreme-2\n"),
        "{out}"
    );
    finish(&env, &["doctor", "-m", "zoo@listed-nowhere"], 0);
    assert!(paths(&server).iter().all(|path| path.starts_with("/v1/models")), "{:?}", paths(&server));
    let asked = server.requests().len();
    finish(&env.set("TEAM_OFFLINE", "true"), &["doctor"], 0);
    assert_eq!(server.requests().len(), asked, "offline nobody is asked");
}

#[test]
fn a_name_that_is_known_though_not_listed_is_taken_and_one_list_serves_all() {
    let server = Server::start(answer);
    let env = env(&server, TeamToml::new());
    finish(&env, &["run", "-m", "zoo@listed-nowhere,zoo@monotreme-1,zoo@MARSUPIAL-4o", "x"], 0);
    let mut paths = paths(&server);
    paths.sort();
    assert_eq!(paths[3..], ["/v1/models", "/v1/models/listed-nowhere"]);
    assert_eq!(paths[..3], ["/v1/chat/completions"; 3]);
}

#[test]
fn of_a_kept_panel_an_unknown_name_is_left_out_alone() {
    let server = Server::start(answer);
    let env = env(&server, TeamToml::new().panel(&["zoo@monotreme-1", "zoo@monotreme-2"]));
    let (_, err) = finish(&env, &["run", "x"], 0);
    assert!(
        err.contains("warning: `zoo@monotreme-2` is left out of the panel: `zoo` has no model `monotreme-2`"),
        "{err}"
    );
    assert!(err.contains("did you mean `zoo@monotreme-1`"), "{err}");
    assert_eq!(env.session().slots().len(), 1);
}

#[test]
fn a_provider_that_does_not_say_what_it_has_is_asked_all_the_same() {
    for reply in [
        Answer::json(500, &json!({"error": "later"})),
        Answer::json(404, &json!({})),
        Answer::json(200, &json!({"data": []})),
        Answer::raw("not HTTP"),
        Answer::nothing(),
        Answer::nothing().until_hung_up(),
    ] {
        let server = Server::start(move |request| if request.path == "/v1/models" { reply.clone() } else { said() });
        let env = env(&server, TeamToml::new());
        let (_, err) = finish(&env, &["run", "-m", "zoo@anything", "x"], 0);
        assert!(err.contains("note: `zoo` does not say which models it has ("), "{err}");
        assert!(err.contains("names are not looked up"), "{err}");
    }
}

#[test]
fn offline_nothing_is_asked_but_the_models() {
    let server = Server::start(answer);
    let env = env(&server, TeamToml::new());
    finish(&env, &["run", "--offline", "-m", "zoo@anything", "x"], 0);
    assert_eq!(paths(&server), ["/v1/chat/completions"]);
}

#[test]
fn without_its_key_a_provider_is_not_asked_and_with_it_the_list_gets_it_too() {
    let server = Server::start(answer);
    let keys =
        [("wire", "openai-chat".into()), ("base_url", server.url("v1").into()), ("api_key_env", "ZOO_KEY".into())];
    let env = TestEnv::with(&TeamToml::new().provider("zoo", &keys)).set("TEAM_OFFLINE", "false");
    finish(&env, &["run", "-m", "zoo@anything", "x"], 4);
    assert_eq!(server.requests().len(), 0);
    let env = env.set("ZOO_KEY", "dummy-key");
    finish(&env, &["run", "-m", "zoo@anything", "x"], 2);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer dummy-key"));
}

#[test]
fn a_server_on_this_machine_is_found_with_the_first_model_that_it_lists() {
    let server = Server::start(answer);
    // Whoever runs the tests may have such servers.
    let closed = ClosedPort::take();
    let nobody = |config: TeamToml, name: &&str| config.provider(name, &[("base_url", closed.url().into())]);
    let env = env(&server, ["ollama", "lmstudio", "llamacpp", "vllm"].iter().fold(TeamToml::new(), nobody));
    let (_, err) = finish(&env, &["run", "x"], 0);
    assert!(err.contains("found here, one per vendor: zoo@marsupial-4o ("), "{err}");
}
