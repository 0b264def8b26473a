//! Where warnings go that somebody prints beside the live lines: held back while those are on the screen, for a line
//! printed between them would be drawn over and would leave a piece of them behind.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Standard error for whole lines. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Aside(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    /// Lines go out at once.
    #[default]
    Open,
    /// Lines wait for whoever draws.
    Held(Vec<u8>),
}

impl Aside {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on lines wait to be taken.
    pub(super) fn hold(&self) {
        let mut state = self.state();
        if matches!(*state, State::Open) {
            *state = State::Held(Vec::new());
        }
    }

    /// The lines that wait, without the last line's end.
    pub(super) fn take(&self) -> Option<String> {
        let State::Held(bytes) = &mut *self.state() else { return None };
        let bytes = std::mem::take(bytes);
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_end_matches('\n').to_owned()).filter(|text| !text.is_empty())
    }

    /// From now on lines go out at once again.
    pub(super) fn release(&self) {
        *self.state() = State::Open;
    }
}

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.state() {
            State::Open => io::stderr().write(bytes),
            State::Held(held) => {
                held.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_while_they_are_held_and_are_taken_once() {
        let aside = Aside::default();
        let mut writer = aside.clone();
        assert_eq!(aside.take(), None);
        aside.hold();
        writer.write_all(b"warning: a\nwarning: b\n").unwrap();
        aside.hold();
        assert_eq!(aside.take().as_deref(), Some("warning: a\nwarning: b"));
        assert_eq!(aside.take(), None);
        aside.release();
        assert_eq!(aside.take(), None);
    }
}
