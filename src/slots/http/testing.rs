//! A server of which the test itself sends every byte, and an output that remembers.
//!
//! Nothing is timed: a test takes a call when it comes, sends what it wants, and waits for what it expects to see.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::session::slot::{Activity, Output};

/// What a test waits for comes within this time or never.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for `what`, and fails the test when it does not come.
pub(super) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("what the test waits for did not come")
}

/// Listens on a free loopback port.
pub(super) struct Server {
    listener: TcpListener,
}

impl Server {
    pub(super) async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1", self.listener.local_addr().unwrap())
    }

    /// The next request, read whole.
    pub(super) async fn call(&self) -> Call {
        let (stream, _) = soon(self.listener.accept()).await.unwrap();
        soon(Call::read(stream)).await
    }

    /// Whether a connection is waiting.
    pub(super) async fn has_call(&self) -> bool {
        tokio::select! {
            biased;
            _ = self.listener.accept() => true,
            () = tokio::task::yield_now() => false,
        }
    }
}

/// One request, and the connection on which it is answered.
pub(super) struct Call {
    stream: TcpStream,
    /// The request line and headers, in lower case.
    pub(super) head: String,
    /// The body.
    pub(super) body: Value,
}

impl Call {
    async fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let split = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the request ended in its head");
        };
        let head = String::from_utf8(bytes[..split].to_vec()).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.unwrap().parse().unwrap();
        while bytes.len() < split + length {
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the request ended in its body");
        }
        Self { stream, head, body: serde_json::from_slice(&bytes[split..]).unwrap() }
    }

    /// Sends these bytes.
    pub(super) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Begins a streamed answer that ends with the connection.
    pub(super) async fn begin(&mut self) {
        self.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").await;
    }

    /// Begins a streamed answer in chunks, of which an early end can be told from a proper one.
    pub(super) async fn begin_chunked(&mut self) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        self.send(head).await;
    }

    /// The same, to a reader that may have hung up.
    pub(super) async fn try_chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let framed = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        self.stream.write_all(&framed).await
    }

    pub(super) async fn chunk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.send(format!("{:x}\r\n", bytes.len())).await;
        self.send(bytes).await;
        self.send("\r\n").await;
    }

    /// Sends a whole response and closes.
    pub(super) async fn respond(mut self, status: u16, headers: &str, body: &str) {
        let length = body.len();
        self.send(format!(
            "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ))
        .await;
        self.close().await;
    }

    /// Sends a whole event stream and closes.
    pub(super) async fn stream(mut self, events: impl AsRef<[u8]>) {
        self.begin().await;
        self.send(events).await;
        self.close().await;
    }

    /// Ends the connection in order.
    pub(super) async fn close(mut self) {
        self.stream.shutdown().await.ok();
    }

    /// Tears the connection down with a reset.
    pub(super) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }

    /// Waits until the other side has hung up.
    pub(super) async fn hung_up(mut self) {
        let mut rest = Vec::new();
        // A reset is a way to hang up too.
        soon(self.stream.read_to_end(&mut rest)).await.ok();
    }
}

/// Remembers what a driver hands out.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) text: Vec<u8>,
    pub(super) activities: Vec<Activity>,
    pub(super) received: usize,
    /// Where each activity and, as `text`, each piece of text is announced.
    pub(super) news: Option<mpsc::UnboundedSender<String>>,
    pub(super) full: bool,
}

impl Recorder {
    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap()
    }

    fn tell(&self, news: impl ToString) {
        if let Some(sender) = &self.news {
            sender.send(news.to_string()).ok();
        }
    }
}

impl Output for Recorder {
    fn text(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.full {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "no space"));
        }
        self.text.extend_from_slice(piece);
        self.tell("text");
        Ok(())
    }

    fn activity(&mut self, activity: Activity) {
        self.tell(&activity);
        self.activities.push(activity);
    }

    fn received(&mut self, bytes: usize) {
        self.received += bytes;
    }
}
