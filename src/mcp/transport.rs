//! Messages as lines: one JSON-RPC message per line, each way.
//!
//! What cannot be read gets an error and ends nothing. Whole lines are written by one task, so that a reader that is
//! interrupted never leaves half a message on standard output.

use std::collections::VecDeque;
use std::io;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::id_finder::IdFinder;

/// The longest message that is read; what is longer belongs into a file.
const LONGEST: usize = 16 * 1024 * 1024;

/// How many messages wait for a client that does not read.
const WAITING: usize = 64;

/// How long a client that does not read is waited for at the end.
const CLOSING: std::time::Duration = std::time::Duration::from_secs(2);

struct Outgoing {
    line: Vec<u8>,
    written: Option<oneshot::Sender<io::Result<()>>>,
}

/// The lines of a client.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Set while the rest of a message is skipped that is too long.
    skipping: Option<IdFinder>,
    output: Option<mpsc::Sender<Outgoing>>,
    writer: Option<JoinHandle<()>>,
    errors: VecDeque<Vec<u8>>,
    /// Before the first request nobody can be told anything, nor is there anything to answer.
    begun: bool,
    gone: CancellationToken,
}

/// What a piece of input amounts to.
enum Read {
    Line,
    TooLong(Option<RequestId>),
    End,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    /// Reads from `input`, writes to `output`; when there is no more input, `gone` says so.
    pub(super) fn new<W>(input: R, output: W, gone: CancellationToken) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(WAITING);
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skipping: None,
            output: Some(sender),
            writer: Some(tokio::spawn(write(output, receiver))),
            errors: VecDeque::new(),
            begun: false,
            gone,
        }
    }

    /// Reads up to the end of a line. Nothing is lost when it is interrupted: what was taken is kept in `self`.
    async fn read(&mut self) -> Read {
        loop {
            let Ok(available) = self.input.fill_buf().await else { return Read::End };
            if available.is_empty() {
                return Read::End;
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.map_or(available.len(), |end| end + 1);
            let piece = &available[..taken];
            let mut id = None;
            if let Some(finder) = &mut self.skipping {
                finder.feed(piece);
            } else if self.line.len() + taken > LONGEST {
                let mut finder = IdFinder::default();
                finder.feed(&self.line);
                finder.feed(piece);
                self.line = Vec::new();
                self.skipping = Some(finder);
            } else {
                self.line.extend_from_slice(piece);
            }
            if end.is_some() {
                id = self.skipping.take().map(IdFinder::found);
            }
            self.input.consume(taken);
            match (end, id) {
                (Some(_), Some(id)) => return Read::TooLong(id),
                (Some(_), None) => return Read::Line,
                (None, _) => {}
            }
        }
    }

    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        if let Ok(line) = serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)) {
            self.errors.push_back(line);
        }
    }

    /// The message in `self.line`, where it is one that somebody waits for.
    fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        if text.trim_ascii().is_empty() {
            return None;
        }
        let value: Value = match serde_json::from_slice(text) {
            Ok(value) => value,
            Err(error) => {
                self.refuse(ErrorData::parse_error(format!("the line is not JSON: {error}"), None), None);
                return None;
            }
        };
        let Some(object) = value.as_object() else {
            let what = if value.is_array() { "a batch, which this protocol does not have" } else { "no object" };
            self.refuse(ErrorData::invalid_request(format!("the message is {what}"), None), None);
            return None;
        };
        let id = object.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        let is_request = object.contains_key("method") && object.contains_key("id");
        match serde_json::from_value::<ClientJsonRpcMessage>(value) {
            Ok(message @ ClientJsonRpcMessage::Request(_)) => {
                self.begun = true;
                Some(message)
            }
            Ok(message) => self.begun.then_some(message),
            Err(error) => {
                // A notification of a kind that is not known, or a reply to nothing, concerns nobody.
                if is_request {
                    self.refuse(ErrorData::invalid_request(format!("the message is no request: {error}"), None), id);
                }
                None
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let line = serde_json::to_vec(&item).map_err(io::Error::other)?;
            let (written, result) = oneshot::channel();
            let output = output.ok_or_else(closed)?;
            output.send(Outgoing { line, written: Some(written) }).await.map_err(|_| closed())?;
            result.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while !self.errors.is_empty() {
                // Interrupted here, the error is still there the next time.
                let Ok(place) = self.output.as_ref()?.reserve().await else { return None };
                if let Some(line) = self.errors.pop_front() {
                    place.send(Outgoing { line, written: None });
                }
            }
            match self.read().await {
                Read::Line => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Read::TooLong(id) => {
                    let what = format!(
                        "the message is longer than {} MiB; put the text into a file and give `input_file`",
                        LONGEST / 1024 / 1024
                    );
                    self.refuse(ErrorData::invalid_request(what, None), id);
                }
                Read::End => {
                    self.gone.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        if let Some(mut writer) = self.writer.take()
            && tokio::time::timeout(CLOSING, &mut writer).await.is_err()
        {
            writer.abort();
        }
        Ok(())
    }
}

/// Writes whole lines until nobody has any more, or nobody reads.
async fn write(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Outgoing>) {
    while let Some(Outgoing { mut line, written }) = lines.recv().await {
        line.push(b'\n');
        let result = match output.write_all(&line).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        let failed = result.is_err();
        if let Some(written) = written {
            // Whoever waited may have gone.
            written.send(result).ok();
        }
        if failed {
            return;
        }
    }
}
