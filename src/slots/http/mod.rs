//! The driver for model APIs: one prompt over HTTP, streamed back as text.
//!
//! A [`Request`] goes in; text and signs of life leave through `Output` while they come, and one `StreamEnd` at the
//! end says how it went. One adapter per wire format (`wire`) knows that format's requests and events; everything
//! else is shared: the reader of events, retries, limits, error reading. It owns no file on disk, keeps no key, and follows
//! no redirect to another host.
//!
//! Hosts other than this machine are reached through the environment's proxies (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`,
//! `NO_PROXY`, in either case; `http`, `https` and `socks5` proxies). Certificates are checked against the system's, or
//! against those in `SSL_CERT_FILE` and `SSL_CERT_DIR`, which take the system's place.

mod address;
mod ask;
mod client;
mod events;
mod exchange;
mod failure;
mod listing;
mod prompt_check;
mod reset;
mod retry;
mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transport;
mod wire;

pub use ask::{JsonSchema, Request};
pub use client::Client;
pub use exchange::Exchange;
pub use listing::{Listing, NotListed, Standing};
pub use retry::{LONGEST_WAIT, RetryPolicy};
