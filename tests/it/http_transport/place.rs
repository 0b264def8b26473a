//! A proxy, and behind it a server that speaks TLS and HTTP/2: whatever host the proxy is asked for, it is this one.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Streams that the server takes on one connection.
const STREAMS: u32 = 100;

/// What came by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Method and target of a request to the proxy, or to whom it was asked to connect.
    Proxied(String),
    /// Version and path of a request to the server behind it.
    Request(String),
}

impl Seen {
    pub(crate) fn proxied(what: &str) -> Self {
        Self::Proxied(what.to_owned())
    }

    pub(crate) fn request(version: &str, path: &str) -> Self {
        Self::Request(format!("{version} {path}"))
    }
}

/// Both servers, until it is dropped.
pub(crate) struct Place {
    runtime: Runtime,
    dir: TempDir,
    address: String,
    socks: String,
    world: Arc<World>,
}

/// What the tasks share.
struct World {
    seen: Mutex<Vec<Seen>>,
    /// What plain HTTP is answered with, head and body.
    reply: Vec<u8>,
    tls: Mutex<Option<TlsAcceptor>>,
    /// Every request behind TLS waits for a permit, and the one that makes the number full gives them out.
    gate: Semaphore,
    wanted: usize,
}

/// A whole answer, as a stream of chat completions.
pub(crate) fn answer() -> String {
    let chunk = r#"{"choices":[{"index":0,"delta":{"content":"forty-two"},"finish_reason":"stop"}]}"#;
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

impl Place {
    pub(crate) fn start() -> Self {
        Self::answering_after(1)
    }

    /// Behind TLS, no request is answered before so many have come.
    pub(crate) fn answering_after(requests: usize) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        Self::with(requests, (head.to_owned() + &answer()).into_bytes())
    }

    /// Plain HTTP is answered with this.
    pub(crate) fn replying(status: u16, headers: &str, body: Vec<u8>) -> Self {
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
        Self::with(1, [head.into_bytes(), body].concat())
    }

    fn with(wanted: usize, reply: Vec<u8>) -> Self {
        let runtime = Runtime::new().unwrap();
        let world =
            Arc::new(World { seen: Mutex::default(), reply, tls: Mutex::default(), gate: Semaphore::new(0), wanted });
        let listen = || {
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            (listener.local_addr().unwrap().to_string(), listener)
        };
        let ((address, http), (socks, other)) = (listen(), listen());
        for (listener, is_socks) in [(http, false), (other, true)] {
            let world = Arc::clone(&world);
            runtime.spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let world = Arc::clone(&world);
                    // A client that hangs up ends its own connection only.
                    tokio::spawn(async move {
                        let _ = if is_socks { world.socks(stream).await } else { world.http(stream).await };
                    });
                }
            });
        }
        Self { runtime, dir: TempDir::new().unwrap(), address, socks, world }
    }

    pub(crate) fn proxy_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn socks_url(&self) -> String {
        format!("socks5h://{}", self.socks)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.world.seen.lock().unwrap().clone()
    }

    /// Makes an authority and, by it, the server's certificate for `names`; the file that holds the authority's.
    pub(crate) fn certificate(&self, names: &[&str]) -> PathBuf {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let server_key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let server = CertificateParams::new(names).unwrap().signed_by(&server_key, &issuer).unwrap();
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![server.der().clone()], private)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        *self.world.tls.lock().unwrap() = Some(TlsAcceptor::from(Arc::new(config)));
        let file = self.dir.path().join("authority.pem");
        std::fs::write(&file, authority.pem()).unwrap();
        file
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nothing of it may outlive the test, nor the test wait for it.
        std::mem::replace(&mut self.runtime, tokio::runtime::Builder::new_current_thread().build().unwrap())
            .shutdown_background();
    }
}

impl World {
    fn saw(&self, what: Seen) {
        self.seen.lock().unwrap().push(what);
    }

    /// A proxy's plain requests are answered here; a tunnel leads to the server behind.
    async fn http(self: &Arc<Self>, mut stream: TcpStream) -> std::io::Result<()> {
        let head = read_head(&mut stream).await?;
        let line = head.lines().next().unwrap_or_default().rsplit_once(' ').map_or("", |(line, _)| line);
        self.saw(Seen::proxied(line));
        if line.starts_with("CONNECT ") {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            return self.behind(stream).await;
        }
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await?;
        stream.write_all(&self.reply).await?;
        stream.shutdown().await
    }

    /// RFC 1928, without authentication, names only.
    async fn socks(self: &Arc<Self>, mut stream: TcpStream) -> std::io::Result<()> {
        let mut hello = [0; 2];
        stream.read_exact(&mut hello).await?;
        let mut methods = vec![0; hello[1].into()];
        stream.read_exact(&mut methods).await?;
        stream.write_all(&[5, 0]).await?;
        let mut request = [0; 5];
        stream.read_exact(&mut request).await?;
        assert_eq!(request[..4], [5, 1, 0, 3], "the proxy is given the name");
        let mut name = vec![0; request[4].into()];
        stream.read_exact(&mut name).await?;
        let port = stream.read_u16().await?;
        self.saw(Seen::proxied(&format!("SOCKS {}:{port}", String::from_utf8_lossy(&name))));
        stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]).await?;
        self.http(stream).await
    }

    /// The server behind the proxy.
    async fn behind(self: &Arc<Self>, stream: TcpStream) -> std::io::Result<()> {
        let Some(acceptor) = self.tls.lock().unwrap().clone() else { return Ok(()) };
        let stream = acceptor.accept(stream).await?;
        let version = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        assert_eq!(version.as_deref(), Some(&b"h2"[..]));
        self.http_2(stream).await.map_err(std::io::Error::other)
    }

    async fn http_2(self: &Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<(), h2::Error> {
        let mut connection = h2::server::Builder::new().max_concurrent_streams(STREAMS).handshake(stream).await?;
        let mut answers = JoinSet::new();
        while let Some(request) = connection.accept().await {
            let (request, mut respond) = request?;
            self.saw(Seen::request(&format!("{:?}", request.version()), request.uri().path()));
            let requests = self.seen.lock().unwrap().iter().filter(|seen| matches!(seen, Seen::Request(_))).count();
            if requests == self.wanted {
                self.gate.add_permits(self.wanted);
            }
            let world = Arc::clone(self);
            answers.spawn(async move {
                world.gate.acquire().await.unwrap().forget();
                let response = http::Response::builder().header("content-type", "text/event-stream").body(()).unwrap();
                let mut send = respond.send_response(response, false).unwrap();
                send.send_data(Cursor::new(answer().into_bytes()), true).unwrap();
            });
        }
        Ok(())
    }
}

async fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
