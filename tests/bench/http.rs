//! Many streams of an API at once, next to a bare client that reads the same streams.

use std::time::Duration;

use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::measure::{median, run, time};
use crate::table::Row;
use crate::world::{World, panel};

/// Each stream is this many events, this far apart: two seconds.
const EVENTS: usize = 40;
const APART: Duration = Duration::from_millis(50);
const RUNS: usize = 3;

pub(crate) fn rows(scale: f64) -> Vec<Row> {
    let streams = ((512.0 * scale) as usize).clamp(8, 512);
    // The server gets threads of its own, so that neither side waits for the other's client.
    let server = Runtime::new().unwrap();
    let listener = server.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    server.spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                // A client that is gone ends its own stream only.
                let _ = serve(socket).await;
            });
        }
    });

    let other = median(RUNS, || bare_loop(&url, streams));
    let keys = [("wire", "openai-chat".into()), ("base_url", url.clone().into())];
    let world = World::new(&panel("bench@scripted", streams, "providers", "bench", &keys));
    let ours = median(RUNS, || {
        world.forget_sessions();
        let time = run(&mut world.team(&["run", "input.md"]));
        world.check_answers(streams, EVENTS as u64);
        time
    });
    vec![Row::ratio(format!("{streams} HTTP streams of 2 s / bare reqwest loop"), ours, other, 1.3)]
}

fn bare_loop(url: &str, streams: usize) -> Duration {
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
                    assert!(bytes > EVENTS);
                })
            });
            for read in reads.collect::<Vec<_>>() {
                read.await.unwrap();
            }
        });
    })
}

/// One request, one stream of chat completions.
async fn serve(mut socket: TcpStream) -> std::io::Result<()> {
    read_request(&mut socket).await?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    socket.write_all(head.as_bytes()).await?;
    let mut ticks = tokio::time::interval(APART);
    for number in 0..EVENTS {
        ticks.tick().await;
        let finish = (number + 1 == EVENTS).then_some("stop");
        let event = serde_json::json!({
            "id": "cc_1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "delta": {"content": format!("piece {number} ")}, "finish_reason": finish}],
        });
        socket.write_all(format!("data: {event}\n\n").as_bytes()).await?;
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
