//! The driver for recordings: the bytes of a file, handed on as if a program printed them now.
//!
//! A recording is for tests and for judging again without cost. It is read in pieces and never held whole; what the
//! bytes mean is the capture's to say. Writes nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The most bytes handed on at once at full speed.
const CHUNK: usize = 64 << 10;
/// How often bytes come at a given pace.
const TICK: Duration = Duration::from_millis(50);

/// How a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Played {
    /// Every byte was handed on.
    Whole,
    /// It was stopped before its end.
    Stopped,
}

/// Why a recording could not be played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording cannot be read.
    #[error("cannot play `{}`: {source}", path.display())]
    Read {
        /// The recording.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The receiver failed: an error of the slot's own file.
    #[error(transparent)]
    Write(io::Error),
}

/// Hands the bytes of `file` to `on_chunk`, at `pace` bytes per second or as fast as they are taken.
///
/// At a pace the bytes due since the start are handed on twenty times a second, so that a slow receiver does not
/// make the whole slower than asked; a pace of 0 counts as 1.
pub async fn play(
    file: &Path,
    pace: Option<u64>,
    stop: &CancellationToken,
    mut on_chunk: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<Played, ReplayError> {
    let unreadable = |source| ReplayError::Read { path: file.to_owned(), source };
    let mut recording = File::open(file).await.map_err(unreadable)?;
    let mut buffer = vec![0; CHUNK];
    let started = Instant::now();
    let mut played: u64 = 0;
    loop {
        let due = match pace {
            None => CHUNK,
            Some(pace) => match due(pace.max(1), started.elapsed(), played) {
                0 => {
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => return Ok(Played::Stopped),
                        () = tokio::time::sleep(next(pace.max(1), started.elapsed(), played)) => continue,
                    }
                }
                due => due,
            },
        };
        let read = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(Played::Stopped),
            // At a file's end nothing is due any more, so it costs no wait.
            read = recording.read(&mut buffer[..due]) => read.map_err(unreadable)?,
        };
        if read == 0 {
            return Ok(Played::Whole);
        }
        on_chunk(&buffer[..read]).map_err(ReplayError::Write)?;
        played += read as u64;
    }
}

/// How many bytes are due after `elapsed`, of which `played` are handed on.
fn due(pace: u64, elapsed: Duration, played: u64) -> usize {
    let all = u128::from(pace) * elapsed.as_millis() / 1000;
    let due = all.saturating_sub(u128::from(played));
    usize::try_from(due).unwrap_or(CHUNK).min(CHUNK)
}

/// How long until the next byte is due, but at least a tick.
fn next(pace: u64, elapsed: Duration, played: u64) -> Duration {
    let at = Duration::from_secs_f64((played + 1) as f64 / pace as f64);
    at.saturating_sub(elapsed).max(TICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(bytes: &[u8]) -> tempfile::NamedTempFile {
        use std::io::Write;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[tokio::test]
    async fn every_byte_is_handed_on_in_order_at_full_speed_and_at_a_pace() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        let file = recording(&bytes);
        for pace in [None, Some(10_000_000)] {
            let mut seen = Vec::new();
            let mut keep = |chunk: &[u8]| {
                assert!(!chunk.is_empty() && chunk.len() <= CHUNK);
                seen.extend_from_slice(chunk);
                Ok(())
            };
            let end = play(file.path(), pace, &CancellationToken::new(), &mut keep).await.unwrap();
            assert_eq!((end, seen == bytes), (Played::Whole, true), "{pace:?}");
        }
    }

    #[tokio::test]
    async fn an_empty_recording_ends_at_once() {
        let file = recording(b"");
        assert_eq!(play(file.path(), None, &CancellationToken::new(), |_| panic!()).await.unwrap(), Played::Whole);
    }

    #[test]
    fn a_pace_is_of_the_whole_and_a_slow_receiver_catches_up() {
        let second = Duration::from_secs(1);
        assert_eq!(due(100, second / 2, 0), 50);
        assert_eq!(due(100, second, 50), 50);
        assert_eq!(due(100, second, 100), 0);
        assert_eq!(due(u64::MAX, second, 0), CHUNK);
        assert_eq!(next(1, second, 1), second, "one byte a second");
        assert_eq!(next(1_000_000, second, 1_000_000), TICK);
    }

    #[tokio::test]
    async fn a_slow_recording_can_be_stopped() {
        let file = recording(&[b'x'; 1000]);
        let stop = CancellationToken::new();
        let mut seen = 0;
        // Nearly a minute long; the first piece stops it.
        let end = play(file.path(), Some(20), &stop, |chunk| {
            seen += chunk.len();
            stop.cancel();
            Ok(())
        });
        assert_eq!(end.await.unwrap(), Played::Stopped);
        assert!(seen < 1000);
    }

    #[tokio::test]
    async fn a_missing_recording_is_named_and_an_error_of_the_receiver_is_passed_on() {
        let stop = CancellationToken::new();
        let error = play(Path::new("no/such.jsonl"), None, &stop, |_| Ok(())).await.unwrap_err();
        assert!(error.to_string().starts_with("cannot play `no/such.jsonl`"), "{error}");
        let file = recording(b"abc");
        let full = |_: &[u8]| Err(io::Error::from(io::ErrorKind::StorageFull));
        let error = play(file.path(), None, &stop, full).await.unwrap_err();
        assert!(matches!(error, ReplayError::Write(error) if error.kind() == io::ErrorKind::StorageFull));
    }
}
