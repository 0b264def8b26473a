//! A pseudo-terminal with a shell in it, for what only happens in one: job control and live lines.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread;

use nix::pty::openpty;
use rustix::termios::{Winsize, tcsetwinsize};

use super::wait_until;

/// A terminal whose screen can be read.
pub(crate) struct Terminal {
    shell: Child,
    keyboard: File,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    pub(super) fn start(mut command: Command, columns: u16, rows: u16) -> Self {
        let pty = openpty(None, None).unwrap();
        let side = || pty.slave.try_clone().unwrap();
        command.stdin(side()).stdout(side()).stderr(side());
        let keyboard = File::from(pty.master);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 1000)));
        let mut display = keyboard.try_clone().unwrap();
        let seen = Arc::clone(&screen);
        set_size(&keyboard, columns, rows);
        let shell = command.spawn().unwrap();
        // These hold the other side open; the display ends when the last program on it does.
        drop((command, pty.slave));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = display.read(&mut bytes) {
                seen.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self { shell, keyboard, screen }
    }

    /// Types; `\n` is the return key, `\x1a` Ctrl-Z, `\x03` Ctrl-C.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// The lines on the screen, without the blank ones.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = self.screen.lock().unwrap().screen().contents();
        text.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
    }

    /// Whether anything on the screen has a colour of its own.
    pub(crate) fn has_colours(&self) -> bool {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        let (rows, columns) = screen.size();
        let mut cells = (0..rows).flat_map(|row| (0..columns).filter_map(move |column| screen.cell(row, column)));
        cells.any(|cell| cell.fgcolor() != vt100::Color::Default)
    }

    /// Waits until a line on the screen holds `words`.
    #[track_caller]
    pub(crate) fn wait_for(&self, words: &str) {
        let shown = || self.lines().iter().any(|line| line.contains(words));
        wait_until(words, || shown().then_some(()));
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(rows, columns);
        set_size(&self.keyboard, columns, rows);
    }

    /// Waits until the shell takes commands again and leaves it: the exit code of the last command, and the screen.
    pub(crate) fn leave(mut self) -> (i32, Vec<String>) {
        // What is typed while a program draws is in its way.
        wait_until("the prompt", || (self.lines().last()? == "$").then_some(()));
        self.press("echo left-$?\n");
        // The echo of what was typed holds no number.
        let left = || self.lines().iter().find_map(|line| line.rsplit_once("left-")?.1.parse().ok());
        let code = wait_until("the shell", left);
        let lines = self.lines();
        self.press("exit\n");
        let shell = &mut self.shell;
        wait_until("the shell's end", || shell.try_wait().unwrap());
        (code, lines)
    }
}

fn set_size(terminal: &File, columns: u16, rows: u16) {
    tcsetwinsize(terminal, Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

impl Drop for Terminal {
    /// A failed test leaves nothing running.
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("on the screen: {:#?}", self.lines());
        }
        if let Ok(None) = self.shell.try_wait() {
            let _ = self.shell.kill();
            let _ = self.shell.wait();
        }
    }
}
