//! The way to a model API: proxies and certificates from the environment, HTTP/2, and compressed answers.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{Session, TeamToml, TestEnv};

mod place;

use place::{Place, Seen};

/// A host that no resolver is asked for: a label of a name has at most 63 characters, so looking it up fails at once.
const NOWHERE: &str = "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm.example";

/// A host that only the proxy is asked for. (TLS takes no name like the other.)
const HOST: &str = "models.example";

/// A panel of one model behind `http://NOWHERE` or `https://HOST`.
fn panel(scheme: &str) -> TeamToml {
    let host = if scheme == "https" { HOST } else { NOWHERE };
    let url = format!("{scheme}://{host}/v1");
    TeamToml::new()
        .provider("narwhal", &[("wire", "openai-chat".into()), ("base_url", url.into())])
        .key("retries", 0.into())
        .panel(&["narwhal@tusk"])
}

/// Runs the panel; how its only slot ended.
fn ask(env: &TestEnv) -> (Session, String) {
    let _ = env.team(&["run", "What is the answer?"]).output().unwrap();
    let session = env.session();
    let slot = session.slot("01");
    let reason = slot["error"]["reason"].as_str().map(|reason| format!("/{reason}")).unwrap_or_default();
    let state = slot["state"].as_str().unwrap().to_owned();
    (session, state + &reason)
}

#[test]
fn an_https_host_is_reached_through_the_proxy_by_http_2_with_a_certificate_of_ones_own() {
    let place = Place::start();
    let env = TestEnv::with(&panel("https"))
        .set("HTTPS_PROXY", &place.proxy_url())
        .set("SSL_CERT_FILE", place.certificate(&[HOST]).to_str().unwrap());
    let (session, end) = ask(&env);
    assert_eq!(end, "COMPLETED", "{}", session.slot("01"));
    assert_eq!(session.text("response-01.md"), "forty-two");
    let seen = [Seen::proxied(&format!("CONNECT {HOST}:443")), Seen::request("HTTP/2.0", "/v1/chat/completions")];
    assert_eq!(place.seen(), seen);
}

#[test]
fn a_folder_of_certificates_does_too() {
    let place = Place::start();
    let file = place.certificate(&[HOST]);
    let env = TestEnv::with(&panel("https"))
        .set("https_proxy", &place.proxy_url())
        .set("SSL_CERT_DIR", file.parent().unwrap().to_str().unwrap());
    assert_eq!(ask(&env).1, "COMPLETED");
}

#[test]
fn a_certificate_that_nobody_vouches_for_ends_it_before_the_key_is_sent() {
    let place = Place::start();
    place.certificate(&[HOST]);
    // Another authority's certificate is all that is trusted.
    let other = Place::start();
    let env = TestEnv::with(&panel("https"))
        .set("HTTPS_PROXY", &place.proxy_url())
        .set("SSL_CERT_FILE", other.certificate(&["other.example"]).to_str().unwrap());
    let (session, end) = ask(&env);
    assert_eq!(end, "FAILED/network");
    let detail = session.slot("01")["error"]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("certificate"), "{detail}");
    assert_eq!(place.seen(), [Seen::proxied(&format!("CONNECT {HOST}:443"))]);
}

#[test]
fn a_file_without_certificates_is_named() {
    let place = Place::start();
    let env = TestEnv::with(&panel("https")).set("HTTPS_PROXY", &place.proxy_url());
    let empty = env.write("empty.pem", "");
    let env = env.set("SSL_CERT_FILE", empty.to_str().unwrap());
    let (session, end) = ask(&env);
    assert_eq!(end, "FAILED/network");
    let detail = session.slot("01")["error"]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("`SSL_CERT_FILE` is `") && detail.contains("empty.pem"), "{detail}");
    assert_eq!(place.seen(), []);
}

#[test]
fn an_http_host_is_asked_through_its_own_proxy_or_that_of_all() {
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        let place = Place::start();
        let env = TestEnv::with(&panel("http")).set(variable, &place.proxy_url());
        assert_eq!(ask(&env).1, "COMPLETED", "{variable}");
        let asked = format!("POST http://{NOWHERE}/v1/chat/completions");
        assert_eq!(place.seen(), [Seen::proxied(&asked)], "{variable}");
    }
}

#[test]
fn a_socks_proxy_is_used_and_resolves_the_name() {
    let place = Place::start();
    let env = TestEnv::with(&panel("http")).set("ALL_PROXY", &place.socks_url());
    assert_eq!(ask(&env).1, "COMPLETED");
    let seen = [Seen::proxied(&format!("SOCKS {NOWHERE}:80")), Seen::proxied("POST /v1/chat/completions")];
    assert_eq!(place.seen(), seen);
}

#[test]
fn what_no_proxy_names_is_not_asked_through_one() {
    let place = Place::start();
    let env = TestEnv::with(&panel("http")).set("HTTP_PROXY", &place.proxy_url()).set("NO_PROXY", NOWHERE);
    assert_eq!(ask(&env).1, "FAILED/network");
    assert_eq!(place.seen(), []);
}

#[test]
fn a_server_on_this_machine_is_never_asked_through_a_proxy() {
    let place = Place::start();
    let config = TeamToml::new()
        .provider("here", &[("wire", "openai-chat".into()), ("base_url", format!("{}/v1", place.proxy_url()).into())])
        .panel(&["here@m"]);
    // Nothing listens there.
    let env = TestEnv::with(&config).set("HTTP_PROXY", "http://127.0.0.1:1").set("NO_PROXY", "");
    assert_eq!(ask(&env).1, "COMPLETED");
    assert_eq!(place.seen(), [Seen::proxied("POST /v1/chat/completions")]);
}

/// The server takes a hundred streams on a connection, and answers when it has seen all requests.
#[test]
fn hundreds_of_streams_are_not_held_up_by_what_one_connection_takes() {
    const SLOTS: usize = 200;
    let place = Place::answering_after(SLOTS);
    let url = format!("https://{HOST}/v1");
    let config = TeamToml::new()
        .provider("narwhal", &[("wire", "openai-chat".into()), ("base_url", url.into())])
        .panel(&["narwhal@tusk"; SLOTS]);
    let env = TestEnv::with(&config)
        .set("HTTPS_PROXY", &place.proxy_url())
        .set("SSL_CERT_FILE", place.certificate(&[HOST]).to_str().unwrap());
    env.team(&["run", "--strict", "What is the answer?"]).assert().success();
    assert_eq!(place.seen().iter().filter(|seen| matches!(seen, Seen::Request(_))).count(), SLOTS);
}

#[test]
fn an_answer_that_comes_compressed_unasked_is_read_and_so_is_a_refusal() {
    let gzip = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    for (status, body, end) in [
        (200, place::answer(), "COMPLETED"),
        (401, r#"{"error":{"message":"who are you","type":"authentication_error"}}"#.to_owned(), "FAILED/auth"),
    ] {
        let place = Place::replying(status, "content-encoding: gzip\r\n", gzip(&body));
        let env = TestEnv::with(&panel("http")).set("HTTP_PROXY", &place.proxy_url());
        let (session, found) = ask(&env);
        assert_eq!(found, end, "{}", session.slot("01"));
        if status == 200 {
            assert_eq!(session.text("response-01.md"), "forty-two");
        } else {
            assert!(session.slot("01")["error"]["detail"].as_str().unwrap().contains("who are you"));
        }
    }
}
