//! Steps to deeds.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, raise};
use nix::unistd::{Pid, setpgid, setsid};
use sha2::{Digest, Sha256};

use crate::ballots;
use crate::script::{Step, Stream};

/// How long `wait-for` waits.
const WAIT: Duration = Duration::from_secs(60);

/// Does every step; gives the exit code.
pub(crate) fn all(steps: Vec<Step>) -> Result<u8, String> {
    let mut prompt = None;
    for step in steps {
        let name = format!("{step:.60?}");
        if let Done::Exit(code) = one(step, &mut prompt).map_err(|e| format!("{name}: {e}"))? {
            return Ok(code);
        }
    }
    Ok(0)
}

enum Done {
    Next,
    Exit(u8),
}

fn one(step: Step, prompt: &mut Option<String>) -> io::Result<Done> {
    match step {
        Step::Write { text, to } => write(to, &text)?,
        Step::PrintFile(file) => write(Stream::Out, &std::fs::read(file)?)?,
        Step::Slices { sizes, file, to } => slices(to, &sizes, &std::fs::read(file)?)?,
        Step::BigFrame(count) => big_frame(count)?,
        Step::Bytes { count, to } => bytes(to, count)?,
        Step::ClaudeFrames { count, text } => claude(count, &text)?,
        Step::ReadStdin => {
            let mut text = Vec::new();
            let count = io::stdin().lock().read_to_end(&mut text)?;
            let hash: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
            write(Stream::Out, format!("stdin bytes={count} sha256={hash}\n").as_bytes())?;
        }
        Step::Read(count) => io::stdin().lock().read_exact(&mut vec![0; count])?,
        Step::Swallow => drop(io::copy(&mut io::stdin().lock(), &mut io::sink())?),
        Step::Cat => {
            io::copy(&mut io::stdin().lock(), &mut io::stdout().lock())?;
            io::stdout().flush()?;
        }
        Step::Env(name) => {
            let line = match std::env::var(&name) {
                Ok(value) => format!("{name}={value}\n"),
                Err(_) => format!("{name} is unset\n"),
            };
            write(Stream::Out, line.as_bytes())?;
        }
        Step::EnvNames => {
            let mut names: Vec<String> =
                std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            names.sort();
            write(Stream::Out, format!("{}\n", names.join(" ")).as_bytes())?;
        }
        Step::Cwd => write(Stream::Out, format!("{}\n", std::env::current_dir()?.display()).as_bytes())?,
        Step::Touch(file) => std::fs::write(file, b"")?,
        Step::Note(file) => {
            let prompt = read(prompt)?;
            let hash: String = Sha256::digest(prompt).iter().map(|byte| format!("{byte:02x}")).collect();
            let line = format!("{} {hash}\n", ballots::wanted(prompt));
            std::fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())?;
        }
        Step::Need(file) => {
            if !Path::new(&file).exists() {
                return Ok(Done::Exit(3));
            }
        }
        Step::Pid(file) => {
            let part = format!("{file}.part");
            std::fs::write(&part, std::process::id().to_string())?;
            std::fs::rename(part, file)?;
        }
        Step::WaitFor(file) => wait_for(Path::new(&file))?,
        Step::Sleep(millis) => thread::sleep(Duration::from_millis(millis)),
        Step::Hang => loop {
            thread::park();
        },
        Step::Chatter(millis, line) => loop {
            // A reader that is gone does not stop it.
            let _ = write(Stream::Out, &line);
            thread::sleep(Duration::from_millis(millis));
        },
        Step::Spin => loop {
            std::hint::spin_loop();
        },
        Step::IgnoreTerm => drop(block([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP])?),
        Step::OnTerm(steps) => {
            let mask = block([Signal::SIGTERM])?;
            thread::spawn(move || {
                let code = match mask.wait() {
                    Ok(_) => all(steps).unwrap_or(99),
                    Err(_) => 99,
                };
                std::process::exit(i32::from(code));
            });
        }
        Step::Setsid => drop(setsid()?),
        Step::Setpgid => setpgid(Pid::from_raw(0), Pid::from_raw(0))?,
        Step::Spawn(steps) => {
            // Not waited for: it may outlive this process.
            Command::new(std::env::current_exe()?).args(steps).stdin(Stdio::null()).spawn()?;
        }
        Step::CloseStdout => close_stdout()?,
        Step::Exit(code) => return Ok(Done::Exit(code)),
        Step::KillSelf(signal) => {
            raise(signal)?;
            // A signal that does not end the process leaves the script going on.
        }
        Step::Answer(text) => {
            if ballots::asks_nothing_to_vote(read(prompt)?) {
                write(Stream::Out, &text)?;
            }
        }
        Step::Nth(file, texts) => {
            if ballots::asks_nothing_to_vote(read(prompt)?) {
                let before = std::fs::read(&file).map_or(0, |marks| marks.len());
                std::fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(b".")?;
                write(Stream::Out, texts.get(before).or(texts.last()).map_or(&b""[..], Vec::as_slice))?;
            }
        }
        Step::Look { file, there, absent } => {
            if ballots::asks_nothing_to_vote(read(prompt)?) {
                let held = std::fs::read_to_string(&file).unwrap_or_default();
                let found = there.iter().find(|(text, _)| held.contains(text));
                write(Stream::Out, found.map_or(&absent, |(_, there)| there))?;
            }
        }
        Step::Weigh(rule) => {
            let prompt = read(prompt)?;
            let found = ballots::findings(prompt);
            if !found.is_empty() {
                write(Stream::Out, ballots::weigh(&rule, prompt, &found).as_bytes())?;
            }
        }
        Step::Vote(rule) => {
            let prompt = read(prompt)?;
            let answers = ballots::answers(prompt);
            if let Some(rule) = ballots::rule_for(&rule, prompt).filter(|_| !answers.is_empty()) {
                write(Stream::Out, ballots::vote(rule, &answers).as_bytes())?;
            }
        }
    }
    Ok(Done::Next)
}

/// The prompt on stdin, read once.
fn read(prompt: &mut Option<String>) -> io::Result<&str> {
    if prompt.is_none() {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text)?;
        *prompt = Some(text);
    }
    Ok(prompt.as_deref().unwrap_or_default())
}

fn write(to: Stream, bytes: &[u8]) -> io::Result<()> {
    match to {
        Stream::Out => {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            out.flush()
        }
        Stream::Err => io::stderr().lock().write_all(bytes),
    }
}

fn bytes(to: Stream, count: u64) -> io::Result<()> {
    let line = [b"0123456789".repeat(8).split_at(79).0, b"\n"].concat();
    let block = line.repeat(512);
    let mut left = count;
    while left > 0 {
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        write(to, &block[..size])?;
        left -= size as u64;
    }
    Ok(())
}

/// Writes pieces of these sizes, over and over; each only when the one before it was read.
fn slices(to: Stream, sizes: &[usize], mut bytes: &[u8]) -> io::Result<()> {
    for size in sizes.iter().cycle() {
        let (piece, rest) = bytes.split_at(bytes.len().min(*size));
        write(to, piece)?;
        while unread(to) > 0 {
            thread::yield_now();
        }
        bytes = rest;
        if bytes.is_empty() {
            break;
        }
    }
    Ok(())
}

/// What lies in the pipe; nothing where it is none.
fn unread(to: Stream) -> u64 {
    match to {
        Stream::Out => rustix::io::ioctl_fionread(rustix::stdio::stdout()).unwrap_or(0),
        Stream::Err => rustix::io::ioctl_fionread(rustix::stdio::stderr()).unwrap_or(0),
    }
}

/// A conversation with one frame of `count` bytes of text, never held whole.
fn big_frame(count: u64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(br#"{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":""#)?;
    io::copy(&mut io::repeat(b'x').take(count), &mut out)?;
    out.write_all(b"\"}]}}\n")?;
    out.write_all(br#"{"type":"result","subtype":"success","is_error":false,"result":"","stop_reason":"end_turn"}"#)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A conversation as `claude --output-format stream-json` prints it.
fn claude(count: usize, text: &str) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let session = "00000000-0000-4000-8000-000000000001";
    let init =
        serde_json::json!({"type": "system", "subtype": "init", "session_id": session, "tools": [], "model": "fake"});
    writeln!(out, "{init}")?;
    for number in 0..count {
        let message = serde_json::json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "fake",
            "content": [{"type": "text", "text": text}], "stop_reason": null,
            "usage": {"input_tokens": 12, "output_tokens": 9},
        });
        let frame = serde_json::json!({
            "type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": session,
        });
        writeln!(out, "{frame}")?;
    }
    let result = serde_json::json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text, "stop_reason": "end_turn",
        "session_id": session, "num_turns": 1, "total_cost_usd": 0.0, "usage": {"input_tokens": 12, "output_tokens": 9},
    });
    writeln!(out, "{result}")?;
    out.flush()
}

fn wait_for(file: &Path) -> io::Result<()> {
    let start = Instant::now();
    while !file.exists() {
        if start.elapsed() > WAIT {
            return Err(io::Error::other(format!("`{}` never came", file.display())));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Blocks the signals for this thread and those it starts. A blocked signal does what an ignored one does, and needs no
/// handler.
fn block<const N: usize>(signals: [Signal; N]) -> io::Result<SigSet> {
    let mask: SigSet = signals.into_iter().collect();
    mask.thread_block()?;
    Ok(mask)
}

fn close_stdout() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}
