//! A server on loopback of which the test says every byte.
//!
//! A closure gives the [`Answer`] to each request: what is sent, in which pieces, where it is held back until the test
//! opens a [`Gate`], and whether it ends in order, by a reset, or not at all. Nothing is timed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// One request, read whole.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The path and query.
    pub(crate) path: String,
    /// The request line and headers, as they came.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Value,
    /// How many requests with the same first part of the path came before.
    pub(crate) earlier: usize,
}

impl Request {
    /// The first part of the path, by which a test tells its cells apart.
    pub(crate) fn cell(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// Holds connections back until it is opened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gate {
    shared: Arc<(Mutex<GateState>, Condvar)>,
}

#[derive(Debug, Default)]
struct GateState {
    open: bool,
    passes: usize,
    waiting: usize,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Lets everything through from now on.
    pub(crate) fn open(&self) {
        self.state().open = true;
        self.shared.1.notify_all();
    }

    /// Lets one connection through, now or when it comes.
    pub(crate) fn let_one_through(&self) {
        self.state().passes += 1;
        self.shared.1.notify_one();
    }

    /// How many connections are held.
    pub(crate) fn held(&self) -> usize {
        self.state().waiting
    }

    fn pass(&self) {
        let mut state = self.state();
        state.waiting += 1;
        while !state.open && state.passes == 0 {
            state = self.shared.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.passes = state.passes.saturating_sub(1);
        state.waiting -= 1;
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What happens on a connection after its request, step by step; after the last it is closed in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    steps: Vec<Step>,
    framing: Framing,
}

#[derive(Debug, Clone)]
enum Step {
    Send(Vec<u8>),
    Hold(Gate),
    Reset,
    UntilHungUp,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Framing {
    #[default]
    UntilClose,
    Chunked,
}

impl Answer {
    /// Nothing: the connection is closed without a byte.
    pub(crate) fn nothing() -> Self {
        Self::default()
    }

    /// These bytes, which need not be HTTP.
    pub(crate) fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self::default().send(bytes)
    }

    /// A whole response with its length.
    pub(crate) fn whole(status: u16, headers: &[&str], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = format!("content-length: {}", body.len());
        let mut bytes = head(status, &[headers, &[length.as_str()]].concat());
        bytes.extend_from_slice(body);
        Self { steps: vec![Step::Send(bytes)], framing: Framing::UntilClose }
    }

    /// A whole JSON response.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::whole(status, &["content-type: application/json"], body.to_string())
    }

    /// The head of a stream in chunks, of which an early end can be told from a proper one.
    pub(crate) fn chunked(status: u16, headers: &[&str]) -> Self {
        let head = head(status, &[headers, &["transfer-encoding: chunked"]].concat());
        Self { steps: vec![Step::Send(head)], framing: Framing::Chunked }
    }

    /// The head of a stream that ends with its connection.
    pub(crate) fn until_close(status: u16, headers: &[&str]) -> Self {
        Self { steps: vec![Step::Send(head(status, headers))], framing: Framing::UntilClose }
    }

    /// Sends a part of the body.
    pub(crate) fn send(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        if bytes.is_empty() {
            return self;
        }
        let framed = match self.framing {
            Framing::UntilClose => bytes.to_vec(),
            Framing::Chunked => [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat(),
        };
        self.steps.push(Step::Send(framed));
        self
    }

    /// Sends a part of the body in pieces of this many bytes, whatever they cut.
    pub(crate) fn send_in_pieces(self, size: usize, bytes: impl AsRef<[u8]>) -> Self {
        bytes.as_ref().chunks(size).fold(self, Self::send)
    }

    /// Ends the body in order.
    pub(crate) fn end(mut self) -> Self {
        if self.framing == Framing::Chunked {
            self.steps.push(Step::Send(b"0\r\n\r\n".to_vec()));
        }
        self
    }

    /// Sends nothing more before the gate opens.
    pub(crate) fn hold(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Hold(gate.clone()));
        self
    }

    /// Goes on with another answer.
    pub(crate) fn then(mut self, next: Self) -> Self {
        self.steps.extend(next.steps);
        Self { steps: self.steps, framing: next.framing }
    }

    /// Tears the connection down with a reset.
    pub(crate) fn reset(mut self) -> Self {
        self.steps.push(Step::Reset);
        self
    }

    /// Keeps the connection, silent, for as long as the other side does.
    pub(crate) fn until_hung_up(mut self) -> Self {
        self.steps.push(Step::UntilHungUp);
        self
    }
}

/// Every connection carries one request, so that what happens to it happens to nobody else.
fn head(status: u16, headers: &[&str]) -> Vec<u8> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("HTTP/1.1 {status} Scripted\r\n{headers}connection: close\r\n\r\n").into_bytes()
}

/// Listens on a free loopback port until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    record: Arc<Record>,
    over: Arc<AtomicBool>,
}

/// What the server saw.
#[derive(Debug, Default)]
struct Record {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    requests: Vec<Request>,
    connections: usize,
    under_way: usize,
    most_under_way: usize,
}

impl Record {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Answers every request with what `answer` gives for it.
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let record = Arc::new(Record::default());
        let over = Arc::new(AtomicBool::new(false));
        let (answer, shared, ended) = (Arc::new(answer), Arc::clone(&record), Arc::clone(&over));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                shared.seen().connections += 1;
                let (answer, record) = (Arc::clone(&answer), Arc::clone(&shared));
                std::thread::spawn(move || {
                    let Some(request) = read(&stream, &record) else { return };
                    play(stream, answer(&request), &record);
                });
            }
        });
        Self { address, record, over }
    }

    /// The URL of `path` here.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.record.seen().requests.clone()
    }

    /// How many requests came for this cell.
    pub(crate) fn requests_of(&self, cell: &str) -> usize {
        self.record.seen().requests.iter().filter(|request| request.cell() == cell).count()
    }

    /// How many connections were made, whatever came over them.
    pub(crate) fn connections(&self) -> usize {
        self.record.seen().connections
    }

    /// The most requests that were held back at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.record.seen().most_under_way
    }
}

impl Drop for Server {
    /// Frees the port; what is held ends with the test.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for the next connection.
        let _ = TcpStream::connect(self.address);
    }
}

fn read(stream: &TcpStream, record: &Record) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).ok()? > 2 {}
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let mut request = Request { path, head, body: serde_json::from_slice(&body).unwrap_or_default(), earlier: 0 };
    let mut seen = record.seen();
    request.earlier = seen.requests.iter().filter(|other| other.cell() == request.cell()).count();
    seen.requests.push(request.clone());
    seen.under_way += 1;
    seen.most_under_way = seen.most_under_way.max(seen.under_way);
    Some(request)
}

/// Carries the steps out. The other side may be gone at any of them; what it made of that is the test's to see.
fn play(mut stream: TcpStream, answer: Answer, record: &Record) {
    // What nothing holds back any more may reach the other side whole with its first byte.
    let last = answer.steps.iter().rposition(|step| matches!(step, Step::Hold(_))).map_or(0, |at| at + 1);
    let mut under_way = true;
    for (at, step) in answer.steps.into_iter().enumerate() {
        if let Step::Hold(gate) = &step {
            gate.pass();
        }
        // Before the bytes: whoever has them may begin the next request.
        if at == last && std::mem::take(&mut under_way) {
            record.seen().under_way -= 1;
        }
        match step {
            Step::Send(bytes) => {
                if stream.write_all(&bytes).is_err() {
                    break;
                }
            }
            Step::Hold(_) => {}
            Step::Reset => {
                let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
                break;
            }
            Step::UntilHungUp => {
                let _ = stream.read_to_end(&mut Vec::new());
            }
        }
    }
    if under_way {
        record.seen().under_way -= 1;
    }
}

/// An address at which connections are refused for as long as it is kept.
#[derive(Debug)]
pub(crate) struct ClosedPort {
    socket: tokio::net::TcpSocket,
}

impl ClosedPort {
    /// Takes a port and does not listen on it, so that nobody else does either.
    pub(crate) fn take() -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        Self { socket }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.socket.local_addr().unwrap())
    }
}
