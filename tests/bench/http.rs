//! Many streams of an API at once, next to a bare client that reads the same streams.

use std::time::Duration;

use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Runtime;

use crate::measure::{medians, run, time};
use crate::table::Row;
use crate::world::{World, panel};

/// A paced stream is this many events, this far apart: two seconds.
const PACED: Pace = Pace { events: 40, apart: Some(Duration::from_millis(50)), turns: 3 };
/// A stream that comes as fast as it is taken: what reading it costs is no longer hidden in waiting.
const AT_ONCE: Pace = Pace { events: 400, apart: None, turns: 5 };

#[derive(Debug, Clone, Copy)]
struct Pace {
    events: usize,
    apart: Option<Duration>,
    turns: usize,
}

pub(crate) fn rows(scale: f64) -> Vec<Row> {
    let streams = ((512.0 * scale) as usize).clamp(8, 512);
    let (ours, other) = both_sides(PACED, streams);
    let paced = Row::ratio(format!("{streams} HTTP streams of 2 s / bare reqwest loop"), ours, other, 1.3);
    let (ours, other) = both_sides(AT_ONCE, streams);
    let name = format!("{streams} HTTP streams of {} events without a pause / the same", AT_ONCE.events);
    vec![paced, Row::information(name, ours, other)]
}

fn both_sides(pace: Pace, streams: usize) -> (Duration, Duration) {
    // The server gets threads of its own, so that neither side waits for the other's client.
    let server = Runtime::new().unwrap();
    // With the usual 128 some of so many connections at once are dropped, and tried again by the kernel after a second or
    // three: then that is what is measured, on either side.
    let listener = server.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket.listen(4096).unwrap()
    });
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    server.spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                // A client that is gone ends its own stream only.
                let _ = serve(socket, pace).await;
            });
        }
    });
    let keys = [("wire", "openai-chat".into()), ("base_url", url.clone().into())];
    let world = World::new(&panel("bench@scripted", streams, "providers", "bench", &keys));
    let mut ours = || {
        world.forget_sessions();
        let time = run(&mut world.team(&["run", "input.md"]));
        world.check_answers(streams, pace.events as u64);
        time
    };
    let mut other = || bare_loop(&url, streams, pace);
    let [ours, other] = medians(pace.turns, [&mut ours, &mut other]);
    (ours, other)
}

fn bare_loop(url: &str, streams: usize, pace: Pace) -> Duration {
    // The client wants a TLS provider even for plain HTTP; an earlier run may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = Runtime::new().unwrap();
    time(|| {
        runtime.block_on(async {
            let client = reqwest::Client::new();
            let reads = (0..streams).map(|_| {
                let request = client.post(format!("{url}/chat/completions")).json(&serde_json::json!({
                    "model": "scripted", "stream": true, "messages": [{"role": "user", "content": "What is the answer?"}],
                }));
                tokio::spawn(async move {
                    let mut body = request.send().await.unwrap().error_for_status().unwrap().bytes_stream();
                    let mut bytes = 0;
                    while let Some(piece) = body.next().await {
                        bytes += piece.unwrap().len();
                    }
                    assert!(bytes > 100 * pace.events, "{bytes}");
                })
            });
            for read in reads.collect::<Vec<_>>() {
                read.await.unwrap();
            }
        });
    })
}

/// One request, one stream of chat completions.
async fn serve(mut socket: TcpStream, pace: Pace) -> std::io::Result<()> {
    read_request(&mut socket).await?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    socket.write_all(head.as_bytes()).await?;
    let mut ticks = pace.apart.map(tokio::time::interval);
    for number in 0..pace.events {
        if let Some(ticks) = &mut ticks {
            ticks.tick().await;
        }
        let finish = if number + 1 == pace.events { "\"stop\"" } else { "null" };
        let event = format!(
            "data: {{\"id\":\"cc_1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"scripted\",\"choices\":\
             [{{\"index\":0,\"delta\":{{\"content\":\"piece {number} \"}},\"finish_reason\":{finish}}}]}}\n\n"
        );
        socket.write_all(event.as_bytes()).await?;
    }
    socket.write_all(b"data: [DONE]\n\n").await?;
    socket.shutdown().await
}

/// Reads the head and as much body as it announces.
async fn read_request(socket: &mut TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    loop {
        if let Some(end) = memchr::memmem::find(&request, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            if request.len() >= end + 4 + length.unwrap_or(0) {
                return Ok(());
            }
        }
        if socket.read_buf(&mut request).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
