//! The script of each fault: what the server does with a request, in terms of any wire.

use std::io::Write;

use serde_json::Value;

use super::wires::{self, Event, PROMPT_TOKENS, Reply, Role, Stop, Wire};
use crate::support::{Answer, Gate, Request};

/// The answer, in the pieces in which it is streamed; characters of one to four bytes.
pub(super) const PIECES: [&str; 4] =
    ["Die Größe: 日本", "語 und 🦀,", "\n\n", "  fertig – \u{1f469}\u{200d}\u{1f680}.\n"];

/// The text of an event of 10 MB.
pub(super) fn big_text() -> String {
    "0123456789abcdé\n".repeat(10_000_000 / 17)
}

/// What the script needs besides the request.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) wire: &'static dyn Wire,
    /// Opened once everybody else is done.
    pub(super) gate: Gate,
    /// A host that must hear nothing.
    pub(super) elsewhere: String,
}

/// Settings of the model besides where it is.
pub(super) fn settings(fault: &str, wire: &dyn Wire) -> Vec<(&'static str, toml::Value)> {
    match fault {
        "length-accepted" => vec![("accept_truncated", true.into())],
        "refused-setting" => {
            let setting = wire.refused_setting();
            vec![(setting.key, setting.value)]
        }
        _ => Vec::new(),
    }
}

/// What the server does with this request.
pub(super) fn answer(stage: &Stage, request: &Request) -> Answer {
    let wire = stage.wire;
    let fault = request.cell();
    if let Some(status) = fault.strip_prefix("status-").and_then(|status| status.parse().ok()) {
        return Answer::json(status, &wire.error(status));
    }
    match fault {
        "whole" => stream(wire, &events(wire)),
        "bytes-1" => chunked(wire).send_in_pieces(1, bytes(&events(wire))).end(),
        "bytes-7" => chunked(wire).send_in_pieces(7, bytes(&events(wire))).end(),
        "crlf" => {
            let text = bytes(&events(wire)).replace("\r\n", "\n").replace('\n', "\r\n");
            chunked(wire).send_in_pieces(5, text).end()
        }
        "byte-order-mark" => chunked(wire).send_in_pieces(2, format!("\u{feff}{}", bytes(&events(wire)))).end(),
        "until-close" => Answer::until_close(200, &[&typed(wire)]).send(bytes(&events(wire))),
        "content-length" => Answer::whole(200, &[&typed(wire)], bytes(&events(wire))),
        "gzip" => {
            let packed = gzip(bytes(&events(wire)).as_bytes());
            Answer::chunked(200, &[&typed(wire), "content-encoding: gzip"]).send_in_pieces(3, packed).end()
        }
        "json-body" => Answer::json(200, &wire.whole(&reply(Stop::Done))),
        "json-body-untyped" => {
            let body = format!("\n  {}\n", wire.whole(&reply(Stop::Done)));
            Answer::until_close(200, &[]).send_in_pieces(100, body)
        }
        "event-10-mb" => {
            let text = big_text();
            stream(wire, &wire.stream(&Reply { pieces: &[&text], ..reply(Stop::Done) }))
        }
        "event-65-mib" => {
            let whole = wire.stream(&Reply { pieces: &["BIG"], ..reply(Stop::Done) });
            let mut begun = until(&whole, Role::Text, 1);
            let text = begun.last_mut().unwrap();
            text.bytes = text.bytes.replace("BIG", &"x".repeat(65 << 20));
            stream(wire, &begun)
        }
        "repeated-events" => {
            let twice =
                |event: &Event| std::iter::repeat_n(event.clone(), if event.role == Role::Text { 1 } else { 2 });
            stream(wire, &events(wire).iter().flat_map(twice).collect::<Vec<_>>())
        }
        "repeated-last" => {
            let mut events = events(wire);
            events.extend(events.last().cloned());
            stream(wire, &events)
        }
        "last-without-newline" => stream_of(wire, bytes(&events(wire)).trim_end()),
        "length" | "length-accepted" => stream(wire, &wire.stream(&reply(Stop::Length))),
        "length-json-body" => Answer::json(200, &wire.whole(&reply(Stop::Length))),
        "refusal" => stream(wire, &wire.stream(&Reply { pieces: &[], ..reply(Stop::Refused) })),
        "blocked-prompt" => match wire.blocked_prompt().unwrap() {
            (200, body) => stream_of(wire, &body),
            (status, body) => Answer::whole(status, &["content-type: application/json"], body),
        },
        "only-thoughts" => stream(wire, &wire.stream(&Reply { pieces: &[], ..reply(Stop::Done) })),
        "only-thoughts-length" => stream(wire, &wire.stream(&Reply { pieces: &[], ..reply(Stop::Length) })),
        "no-text" => stream(wire, &wire.stream(&Reply { pieces: &[" \n", "\t"], ..reply(Stop::Done) })),
        "cut-prompt" => stream(wire, &wire.stream(&Reply { prompt_tokens: 60, ..reply(Stop::Done) })),
        _ => broken(stage, request)
            .or_else(|| stated(stage, request))
            .unwrap_or_else(|| panic!("no script of `{fault}`")),
    }
}

/// Connections that stall, break, or end too early.
fn broken(stage: &Stage, request: &Request) -> Option<Answer> {
    let wire = stage.wire;
    let all = events(wire);
    let (begun, rest) = (until(&all, Role::Text, 2), after(&all, Role::Text, 2));
    Some(match request.cell() {
        "stall-before" => Answer::nothing().hold(&stage.gate).then(stream(wire, &all)),
        "stall-middle" => chunked(wire).send(bytes(&begun)).hold(&stage.gate).send(bytes(&rest)).end(),
        "stall-after" => chunked(wire).send(bytes(&all)).until_hung_up(),
        "hang-before" => Answer::nothing().until_hung_up(),
        "hang-after-head" => chunked(wire).until_hung_up(),
        "hang-in-thoughts" => chunked(wire).send(bytes(&until(&all, Role::Start, usize::MAX))).until_hung_up(),
        "hang-middle" => chunked(wire).send(bytes(&begun)).until_hung_up(),
        "hang-in-error" => {
            Answer::chunked(400, &["content-type: application/json"]).send("{\"error\":").until_hung_up()
        }
        "reset-before" => Answer::nothing().reset(),
        "close-before" => Answer::nothing(),
        "reset-in-head" => Answer::raw("HTTP/1.1 200 OK\r\ncontent-ty").reset(),
        "reset-in-thoughts" => chunked(wire).send(bytes(&until(&all, Role::Start, usize::MAX))).reset(),
        "reset-middle" => chunked(wire).send(bytes(&begun)).reset(),
        "reset-after" => chunked(wire).send(bytes(&all)).reset(),
        "close-middle" => chunked(wire).send(bytes(&begun)),
        "close-after" => chunked(wire).send(bytes(&all)),
        "stop-in-every-event" => stream(wire, &wires::stopping_in_every_event(&reply(Stop::Length))),
        "no-last" => {
            let end = all.iter().position(|event| matches!(event.role, Role::Stop | Role::Last)).unwrap();
            stream(wire, &all[..end])
        }
        "stop-without-last" => {
            let end = all.iter().position(|event| event.role == Role::Last).unwrap();
            stream(wire, &all[..end])
        }
        "cut-character" => {
            let text = bytes(&begun);
            let cut = text.rfind('🦀').unwrap() + 2;
            Answer::until_close(200, &[&typed(wire)]).send(&text.as_bytes()[..cut])
        }
        "cut-json-body" => {
            let body = wire.whole(&reply(Stop::Done)).to_string();
            let half = &body.as_bytes()[..body.len() / 2];
            Answer::until_close(200, &["content-type: application/json", &format!("content-length: {}", body.len())])
                .send(half)
        }
        "empty-200" => Answer::whole(200, &[&typed(wire)], ""),
        "reset-then-answer" if request.earlier == 0 => Answer::nothing().reset(),
        "reset-then-answer" => stream(wire, &all),
        _ => return None,
    })
}

/// Errors that the server, or something in front of it, puts into words.
fn stated(stage: &Stage, request: &Request) -> Option<Answer> {
    let wire = stage.wire;
    let all = events(wire);
    let of = |(status, body): (u16, Value)| Answer::json(status, &body);
    let waiting = |status: u16, wait: &str| {
        let headers = ["content-type: application/json", &format!("retry-after: {wait}")];
        Answer::whole(status, &headers, wire.error(status).to_string())
    };
    Some(match request.cell() {
        "too-long" => of(wire.too_long()),
        "spent-quota" => of(wire.spent_quota()),
        "too-long-for-minute" => of(wires::too_long_for_minute()),
        // Google names the wait in the body only.
        "wait-in-body" if request.earlier == 0 => of((429, wire.error(429))),
        "wait-in-body" => stream(wire, &all),
        "refused-key" => of(wire.refused_key()),
        "retry-after-0" => waiting(429, "0"),
        "retry-after-minute" => waiting(429, "60"),
        "retry-after-hour" => waiting(429, "3600"),
        "429-then-answer" if request.earlier == 0 => waiting(429, "1"),
        "503-then-answer" if request.earlier == 0 => waiting(503, "0"),
        "429-then-answer" | "503-then-answer" => stream(wire, &all),
        "html-200" => Answer::whole(200, &["content-type: text/html"], page("Sign in")),
        "html-502" => Answer::whole(502, &["content-type: text/html", "retry-after: 0"], page("502 Bad Gateway")),
        "no-json-200" => Answer::whole(200, &[&typed(wire)], "{nope"),
        "nothing-204" => Answer::whole(204, &[], ""),
        "text-200" => Answer::whole(200, &["content-type: text/plain"], "upstream is down\n"),
        "broken-event" => {
            let broken = wire.stream(&Reply { pieces: &["BROKEN"], ..reply(Stop::Done) });
            stream_of(wire, &bytes(&broken).replacen("\"BROKEN\"", "\"BROKEN\" \"", 1))
        }
        "error-in-200" => stream(wire, &[wire.error_event()]),
        "error-after-greeting" => {
            let mut events = until(&all, Role::Start, 2);
            events.push(wire.error_event());
            stream(wire, &events)
        }
        "error-in-middle" => {
            let mut events = until(&all, Role::Text, 2);
            events.push(wire.error_event());
            stream(wire, &events)
        }
        "error-json-200" => Answer::json(200, &wire.error(401)),
        "status-401-gzip" => {
            let headers = ["content-type: application/json", "content-encoding: gzip"];
            Answer::whole(401, &headers, gzip(wire.error(401).to_string().as_bytes()))
        }
        "status-500-silent" => Answer::whole(500, &["retry-after: 0"], ""),
        "status-404-path" => Answer::whole(404, &["content-type: text/plain"], "404 page not found"),
        "redirect-elsewhere" => {
            let location = format!("location: {}{}", stage.elsewhere, request.path);
            Answer::whole(307, &[&location], "")
        }
        "redirect-here" if request.earlier == 0 => Answer::whole(308, &[&format!("location: {}", request.path)], ""),
        "redirect-here" => stream(wire, &all),
        "refused-setting" => {
            let setting = wire.refused_setting();
            match request.body.pointer(setting.pointer) {
                Some(_) => Answer::json(400, &setting.refusal),
                None => stream(wire, &all),
            }
        }
        _ => return None,
    })
}

fn reply(stop: Stop) -> Reply<'static> {
    Reply { pieces: &PIECES, stop, prompt_tokens: PROMPT_TOKENS }
}

/// A whole stream that says [`PIECES`].
fn events(wire: &dyn Wire) -> Vec<Event> {
    wire.stream(&reply(Stop::Done))
}

fn bytes(events: &[Event]) -> String {
    events.iter().map(|event| event.bytes.as_str()).collect()
}

/// The events up to the `count`th of this role.
fn until(events: &[Event], role: Role, count: usize) -> Vec<Event> {
    events[..end_of(events, role, count)].to_vec()
}

/// The events behind it.
fn after(events: &[Event], role: Role, count: usize) -> Vec<Event> {
    events[end_of(events, role, count)..].to_vec()
}

fn end_of(events: &[Event], role: Role, count: usize) -> usize {
    let places = events.iter().enumerate().filter(|(_, event)| event.role == role);
    places.take(count).last().map_or(0, |(at, _)| at + 1)
}

fn typed(wire: &dyn Wire) -> String {
    format!("content-type: {}", wire.content_type())
}

/// Each event in a chunk of its own, up to the proper end of the body.
fn stream(wire: &dyn Wire, events: &[Event]) -> Answer {
    events.iter().fold(chunked(wire), |answer, event| answer.send(&event.bytes)).end()
}

fn stream_of(wire: &dyn Wire, text: &str) -> Answer {
    chunked(wire).send(text).end()
}

fn chunked(wire: &dyn Wire) -> Answer {
    Answer::chunked(200, &[&typed(wire)])
}

fn page(title: &str) -> String {
    format!("<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}
