//! Stands where everything that leaves the browser must pass, and notes what was asked for.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The proxy; it ends with the test's process.
pub(crate) struct Proxy {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let notes = Arc::clone(&notes);
                std::thread::spawn(move || note(stream, &notes));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The first lines of requests that concern `host`. The browser's own housekeeping is none of a page's.
    pub(crate) fn asked_for(&self, host: &str) -> Vec<String> {
        self.asked.lock().unwrap().iter().filter(|line| line.contains(host)).cloned().collect()
    }
}

fn note(mut stream: TcpStream, notes: &Mutex<Vec<String>>) {
    let mut line = String::new();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    if lines.read_line(&mut line).is_ok_and(|count| count > 0) {
        notes.lock().unwrap().push(line.trim_end().to_owned());
        stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok();
    }
}
