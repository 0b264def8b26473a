//! A scripted agent: does what real agents cannot be made to do on demand.
//!
//! `fake-agent STEP..` runs its arguments as a script, one step per line; an argument `@FILE` is replaced by the lines
//! of that file. Blank lines and lines that begin with `#` are skipped. A step that cannot be read is exit 98 before
//! anything else happens, a step that fails is exit 99; both say why on stderr. The end of the script is exit 0.
//!
//! | Step | Does |
//! | --- | --- |
//! | `print TEXT` | writes TEXT and a line end to stdout; `\n`, `\t`, `\\` and `\xHH` are escapes |
//! | `write TEXT` | the same without the line end |
//! | `stderr TEXT` | writes a line to stderr |
//! | `print-file FILE` | writes the file to stdout |
//! | `print-slices N,N,.. FILE` | the same in pieces of these sizes, over and over, each written when the last was read |
//! | `stderr-slices N,N,.. FILE` | the same to stderr |
//! | `big-frame N` | writes a Claude stream-json conversation with one frame of N bytes of text |
//! | `bytes N` | writes N bytes of text in lines of 80 |
//! | `stderr-bytes N` | the same to stderr |
//! | `claude TEXT` | writes a whole Claude stream-json conversation that answers TEXT |
//! | `claude-frames N TEXT` | the same with N assistant messages of TEXT |
//! | `read-stdin` | reads to the end and prints `stdin bytes=N sha256=HEX` |
//! | `read N` | reads N bytes of stdin and goes on |
//! | `swallow` | reads stdin to its end |
//! | `cat` | copies stdin to stdout |
//! | `env NAME` | prints `NAME=value` or `NAME is unset` |
//! | `env-names` | prints the names of all variables, sorted, on one line |
//! | `cwd` | prints the working directory |
//! | `touch FILE` | creates the file |
//! | `pid FILE` | writes its process id to the file, all at once |
//! | `note FILE` | adds a line to the file: what it is asked for (`answer`, `votes`, `rest`, `weighing`, `reweighing`) and the SHA-256 of the prompt |
//! | `need FILE` | exits with 3 when the file does not exist |
//! | `wait-for FILE` | waits until the file exists; after 60 s it fails |
//! | `sleep MS` | sleeps |
//! | `hang` | never ends |
//! | `chatter MS [TEXT]` | prints a line every MS milliseconds and never ends, even when nobody reads |
//! | `spin` | keeps a processor busy and never ends |
//! | `ignore-term` | blocks SIGTERM, SIGINT and SIGHUP |
//! | `on-term STEP ;; STEP ..` | does these steps when SIGTERM comes |
//! | `setsid` | moves itself to a session of its own |
//! | `setpgid` | moves itself to a process group of its own |
//! | `spawn STEP ;; STEP ..` | starts a second fake agent with these steps; it inherits stdout and stderr |
//! | `close-stdout` | from here on, writes nothing to stdout and drops its end of the pipe |
//! | `exit N` | exits |
//! | `kill-self SIGNAL` | sends itself the signal, such as `SIGKILL` |
//! | `answer TEXT` | prints TEXT when the prompt on stdin holds nothing to vote on |
//! | `nth FILE TEXT ;; TEXT ..` | the same, but the n-th text the n-th time that it is asked so, counted in the file; the last one from then on |
//! | `look FILE TEXT ;; THERE ;; .. ;; ABSENT` | the same: prints the THERE behind the first TEXT that FILE of its folder holds, else ABSENT |
//! | `weigh RULE` | votes on the findings in the prompt, where it holds some |
//! | `vote RULE` | prints ballots when it does, by the rule |
//!
//! Rules of `weigh`: `sustain`, `reject`, `ask` (every finding); `added WORD TEXT ;; WORD TEXT ..` (sustains those that
//! hold a WORD where the change in the prompt adds a line with its TEXT, and rejects the others); `word WORD` (sustains the findings that hold WORD, rejects
//! the others); `looks FILE TEXT` (sustains every finding where FILE of its folder holds TEXT, else rejects them);
//! `garbage` (prose that mentions every name and a verdict); `missing` (sustains, and says nothing of what stands last);
//! `first RULE` (not when it is asked once more); `again RULE` (only then).
//!
//! Rules of `vote`: `approve`, `reject`, `abstain` (every answer); `approve-word WORD` (approves the answers that hold
//! WORD, rejects the others); `garbage` (prose that mentions every alias and a verdict); `missing` (none for the last
//! answer); `duplicate` (the last ballot twice); `conflict` (the last answer approved and rejected); `unknown` (one more
//! ballot for an alias that was not given); `json` (approves all, as one JSON object); `unclosed` (the last fence stays
//! open); `lower` (lower-case keys, `8/10`, CRLF); `each TEXT` (TEXT for every answer, `{alias}` being its name);
//! `approve-first` (approves what stands first and rejects the others); `first RULE` (not when it is asked once more);
//! `again RULE` (only then).

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a program of its own")]

#[path = "fake_agent/ballots.rs"]
mod ballots;
#[path = "fake_agent/perform.rs"]
mod perform;
#[path = "fake_agent/script.rs"]
mod script;

use std::process::ExitCode;

fn main() -> ExitCode {
    let steps = match script::read(std::env::args().skip(1)) {
        Ok(steps) => steps,
        Err(error) => {
            eprintln!("fake-agent: {error}");
            return ExitCode::from(98);
        }
    };
    match perform::all(steps) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("fake-agent: {error}");
            ExitCode::from(99)
        }
    }
}
