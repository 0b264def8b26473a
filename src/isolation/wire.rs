//! What `team` and the stages say to each other over their sockets.
//!
//! A frame is a kind byte, the payload's length (32 bits, little-endian) and the payload. Strings are raw bytes:
//! a program's arguments and environment need not be UTF-8.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::Serialize;

use super::enclosure::{Absent, Access, Enclosure, Place, Shown};
use super::mechanism::Mechanism;

/// Above what any kernel takes as arguments and environment; a longer frame is a broken one.
const LONGEST_PAYLOAD: usize = 64 << 20;

/// What the stages need to start an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The complete environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory it starts in, absolute.
    pub directory: PathBuf,
    /// The file that is its standard input; without one the input is empty.
    pub input: Option<PathBuf>,
    /// The soft limit of open files it gets, where `team` has changed its own.
    pub descriptor_limit: Option<u64>,
    /// How it is held.
    pub mechanism: Mechanism,
    /// What it may see.
    pub enclosure: Enclosure,
}

/// From `team` to the stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// Start this; always the first frame.
    Launch(Box<Launch>),
    /// Send this signal to every process of the slot.
    Signal(i32),
    /// Kill what is left and end.
    Sweep,
}

/// From the stages to `team`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The agent runs.
    Started,
    /// The agent was never started.
    Refused {
        /// What was being done.
        step: Step,
        /// The operating system's error number.
        errno: i32,
    },
    /// The agent's own process ended with this exit code.
    Exited(i32),
    /// The agent's own process was ended by this signal.
    Killed(i32),
    /// Nothing is left; so many processes had to be killed after the agent's end.
    Swept(u32),
}

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident = $number:literal $text:literal,)*) => {
        /// A step on the way to a running agent, as named when it fails.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum Step {
            $($(#[$doc])* $name = $number,)*
        }

        impl Step {
            /// What was being done, for a sentence that begins with "cannot".
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            fn from_byte(byte: u8) -> Option<Self> {
                match byte { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

steps! {
    /// The first frame was not a launch, or the socket broke.
    ReadLaunch = 1 "read what to start",
    /// The file for standard input.
    OpenInput = 2 "open the input",
    /// `unshare`.
    Unshare = 3 "make the namespaces",
    /// The maps of a user namespace.
    MapIds = 4 "map the user into its namespace",
    /// Cutting mounts off from the outside.
    DetachMounts = 5 "detach the mounts",
    /// Capabilities handed to the init stage.
    PassCapabilities = 6 "pass capabilities to init",
    /// Becoming the one that adopts orphans.
    AdoptOrphans = 7 "adopt orphans",
    /// The init stage.
    StartInit = 8 "start init",
    /// Being process 1.
    BeFirst = 9 "be the first process of the namespace",
    /// The fresh `/proc`.
    MountProc = 10 "mount `/proc`",
    /// Giving up privileges.
    DropPrivileges = 11 "drop privileges",
    /// The limit of open files.
    LimitDescriptors = 12 "restore the limit of open files",
    /// The directory the agent starts in.
    EnterDirectory = 13 "enter the working directory",
    /// The agent itself.
    Execute = 14 "execute the program",
    /// Signal masks and descriptors of a stage.
    WatchSignals = 15 "watch signals",
    /// The self-test ran and found the process not held.
    Check = 16 "hold a test process",
    /// The self-test did not end.
    Finish = 17 "finish the self-test in time",
    /// The empty folder over the sessions.
    Hide = 18 "hide the sessions folder",
    /// The slot's own folder and prompt inside it.
    Show = 19 "show the slot's own folder",
    /// A private folder over a shared one.
    MountPrivate = 20 "mount a private folder over a shared one",
    /// Block devices, from which files can be read past every mount.
    HideDevices = 21 "hide block devices",
    /// Abstract sockets.
    ScopeSockets = 22 "close abstract sockets",
    /// Landlock's rules on files.
    RestrictFiles = 23 "restrict files with Landlock",
    /// The private folders and the self-test's canary.
    MakePrivate = 24 "make private folders",
    /// Folders that may be read only.
    Protect = 25 "make the user's own files read-only",
}

/// A frame that cannot be read; the peer is not one of ours.
fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed frame")
}

impl Order {
    /// The bytes of the frame.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Launch(launch) => frame(1, &launch.encode()),
            Self::Signal(signal) => frame(2, &signal.to_le_bytes()),
            Self::Sweep => frame(3, &[]),
        }
    }

    fn decode(kind: u8, payload: &[u8]) -> io::Result<Self> {
        match kind {
            1 => Ok(Self::Launch(Box::new(Launch::decode(payload)?))),
            2 => Ok(Self::Signal(number(payload)?)),
            3 => Ok(Self::Sweep),
            _ => Err(malformed()),
        }
    }
}

impl Report {
    /// The bytes of the frame.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Started => frame(1, &[]),
            Self::Refused { step, errno } => {
                let mut payload = vec![*step as u8];
                payload.extend_from_slice(&errno.to_le_bytes());
                frame(2, &payload)
            }
            Self::Exited(code) => frame(3, &code.to_le_bytes()),
            Self::Killed(signal) => frame(4, &signal.to_le_bytes()),
            Self::Swept(count) => frame(5, &count.to_le_bytes()),
        }
    }

    fn decode(kind: u8, payload: &[u8]) -> io::Result<Self> {
        match (kind, payload) {
            (1, []) => Ok(Self::Started),
            (2, [step, errno @ ..]) => {
                Ok(Self::Refused { step: Step::from_byte(*step).ok_or_else(malformed)?, errno: number(errno)? })
            }
            (3, code) => Ok(Self::Exited(number(code)?)),
            (4, signal) => Ok(Self::Killed(number(signal)?)),
            (5, count) => Ok(Self::Swept(u32::from_le_bytes(count.try_into().map_err(|_| malformed())?))),
            _ => Err(malformed()),
        }
    }
}

fn number(bytes: &[u8]) -> io::Result<i32> {
    Ok(i32::from_le_bytes(bytes.try_into().map_err(|_| malformed())?))
}

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + 5);
    bytes.push(kind);
    push_length(&mut bytes, payload.len());
    bytes.extend_from_slice(payload);
    bytes
}

fn push_length(bytes: &mut Vec<u8>, length: usize) {
    // Saturates: the reader refuses anything above LONGEST_PAYLOAD.
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

fn push_string(bytes: &mut Vec<u8>, string: &OsStr) {
    push_length(bytes, string.len());
    bytes.extend_from_slice(string.as_bytes());
}

impl Launch {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.push(match self.mechanism {
            Mechanism::TreeWalk => 0,
            Mechanism::Namespaces { user: false } => 1,
            Mechanism::Namespaces { user: true } => 2,
            Mechanism::Landlock => 3,
        });
        bytes.extend_from_slice(&self.descriptor_limit.unwrap_or(u64::MAX).to_le_bytes());
        push_string(&mut bytes, self.directory.as_os_str());
        push_string(&mut bytes, self.input.as_ref().map_or(OsStr::new(""), |path| path.as_os_str()));
        push_length(&mut bytes, self.argv.len());
        for argument in &self.argv {
            push_string(&mut bytes, argument);
        }
        push_length(&mut bytes, self.environment.len());
        for (name, value) in &self.environment {
            push_string(&mut bytes, name);
            push_string(&mut bytes, value);
        }
        self.enclosure.encode(&mut bytes);
        bytes
    }

    fn decode(payload: &[u8]) -> io::Result<Self> {
        let mut fields = Fields(payload);
        let mechanism = match fields.take(1)? {
            [0] => Mechanism::TreeWalk,
            [1] => Mechanism::Namespaces { user: false },
            [2] => Mechanism::Namespaces { user: true },
            [3] => Mechanism::Landlock,
            _ => return Err(malformed()),
        };
        let limit = u64::from_le_bytes(fields.take(8)?.try_into().map_err(|_| malformed())?);
        let directory = PathBuf::from(fields.string()?);
        let input = fields.string()?;
        let mut argv = Vec::new();
        for _ in 0..fields.length()? {
            argv.push(fields.string()?);
        }
        let mut environment = Vec::new();
        for _ in 0..fields.length()? {
            environment.push((fields.string()?, fields.string()?));
        }
        let enclosure = Enclosure::decode(&mut fields)?;
        if !fields.0.is_empty() || argv.is_empty() {
            return Err(malformed());
        }
        Ok(Self {
            argv,
            environment,
            directory,
            input: (!input.is_empty()).then(|| PathBuf::from(input)),
            descriptor_limit: (limit != u64::MAX).then_some(limit),
            mechanism,
            enclosure,
        })
    }
}

impl Enclosure {
    fn encode(&self, bytes: &mut Vec<u8>) {
        push_length(bytes, self.hidden.len());
        for path in &self.hidden {
            push_string(bytes, path.as_os_str());
        }
        push_length(bytes, self.shown.len());
        for shown in &self.shown {
            push_string(bytes, shown.path.as_os_str());
            bytes.push(u8::from(shown.access == Access::Write));
        }
        push_length(bytes, self.protected.len());
        for path in &self.protected {
            push_string(bytes, path.as_os_str());
        }
        push_length(bytes, self.places.len());
        for place in &self.places {
            push_string(bytes, place.usual.as_os_str());
            push_string(bytes, place.private.as_os_str());
            bytes.push(u8::from(place.absent == Absent::Make));
        }
        push_length(bytes, self.kept.len());
        for path in &self.kept {
            push_string(bytes, path.as_os_str());
        }
        push_string(bytes, self.scratch.as_ref().map_or(OsStr::new(""), |path| path.as_os_str()));
    }

    fn decode(fields: &mut Fields<'_>) -> io::Result<Self> {
        let mut enclosure = Self::default();
        for _ in 0..fields.length()? {
            enclosure.hidden.push(fields.string()?.into());
        }
        for _ in 0..fields.length()? {
            let path = fields.string()?.into();
            let access = if fields.flag()? { Access::Write } else { Access::Read };
            enclosure.shown.push(Shown { path, access });
        }
        for _ in 0..fields.length()? {
            enclosure.protected.push(fields.string()?.into());
        }
        for _ in 0..fields.length()? {
            let (usual, private) = (fields.string()?.into(), fields.string()?.into());
            let absent = if fields.flag()? { Absent::Make } else { Absent::Skip };
            enclosure.places.push(Place { usual, private, absent });
        }
        for _ in 0..fields.length()? {
            enclosure.kept.push(fields.string()?.into());
        }
        let scratch = fields.string()?;
        enclosure.scratch = (!scratch.is_empty()).then(|| scratch.into());
        Ok(enclosure)
    }
}

/// The rest of a payload that is being read.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn length(&mut self) -> io::Result<usize> {
        let bytes = self.take(4)?.try_into().map_err(|_| malformed())?;
        usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| malformed())
    }

    fn flag(&mut self) -> io::Result<bool> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(malformed()),
        }
    }

    fn string(&mut self) -> io::Result<OsString> {
        let length = self.length()?;
        Ok(OsString::from_vec(self.take(length)?.to_vec()))
    }
}

/// Bytes that have arrived, cut into frames.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// Takes what one read gave.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole order.
    pub(crate) fn order(&mut self) -> io::Result<Option<Order>> {
        self.next(Order::decode)
    }

    /// The next whole report.
    pub(crate) fn report(&mut self) -> io::Result<Option<Report>> {
        self.next(Report::decode)
    }

    fn next<T>(&mut self, decode: impl FnOnce(u8, &[u8]) -> io::Result<T>) -> io::Result<Option<T>> {
        let Some((header, rest)) = self.bytes.split_at_checked(5) else { return Ok(None) };
        let length = Fields(&header[1..]).length()?;
        if length > LONGEST_PAYLOAD {
            return Err(malformed());
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let item = decode(header[0], payload)?;
        self.bytes.drain(..5 + length);
        if self.bytes.is_empty() {
            // A launch can be megabytes; nothing as large follows it.
            self.bytes = Vec::new();
        }
        Ok(Some(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch {
            argv: vec!["sh".into(), OsString::from_vec(vec![0xff, b' ', b'\n'])],
            environment: vec![("A".into(), OsString::from_vec(vec![0xfe])), ("B".into(), "".into())],
            directory: "/work/01".into(),
            input: Some("/input.md".into()),
            descriptor_limit: Some(1024),
            mechanism: Mechanism::Namespaces { user: true },
            enclosure: Enclosure {
                hidden: vec!["/sessions".into()],
                shown: vec![
                    Shown { path: "/sessions/s/work/01".into(), access: Access::Write },
                    Shown { path: "/sessions/s/input.md".into(), access: Access::Read },
                ],
                protected: vec!["/project".into(), "/repo/.git".into()],
                places: vec![
                    Place { usual: "/tmp".into(), private: "/p/0".into(), absent: Absent::Skip },
                    Place { usual: "/home/.x".into(), private: "/p/1".into(), absent: Absent::Make },
                ],
                kept: vec![OsString::from_vec(vec![b'/', 0xff]).into()],
                scratch: Some("/p".into()),
            },
        }
    }

    #[test]
    fn orders_survive_any_chunking_with_bytes_that_are_not_text() {
        let orders = [Order::Launch(Box::new(launch())), Order::Signal(15), Order::Sweep];
        let bytes: Vec<u8> = orders.iter().flat_map(Order::encode).collect();
        for size in [1, 7, 13, bytes.len()] {
            let mut frames = Frames::default();
            let mut seen = Vec::new();
            for chunk in bytes.chunks(size) {
                frames.push(chunk);
                while let Some(order) = frames.order().unwrap() {
                    seen.push(order);
                }
            }
            assert_eq!(seen, orders, "chunks of {size}");
        }
    }

    #[test]
    fn a_launch_without_input_or_limit_keeps_them_absent() {
        let enclosure = Enclosure::default();
        let bare = Launch { input: None, descriptor_limit: None, environment: Vec::new(), enclosure, ..launch() };
        assert_eq!(Launch::decode(&bare.encode()).unwrap(), bare);
    }

    #[test]
    fn reports_come_back_as_they_were_sent() {
        let reports = [
            Report::Started,
            Report::Refused { step: Step::MountProc, errno: 1 },
            Report::Exited(255),
            Report::Killed(34),
            Report::Swept(7),
        ];
        let mut frames = Frames::default();
        for report in reports {
            frames.push(&report.encode());
            assert_eq!(frames.report().unwrap(), Some(report));
        }
        assert_eq!(frames.report().unwrap(), None);
    }

    #[test]
    fn a_stranger_on_the_socket_is_refused() {
        for bytes in [&b"GET / HTTP/1.1"[..], &[9, 0, 0, 0, 0], &[1, 2, 0, 0, 0, 0, 0]] {
            let mut frames = Frames::default();
            frames.push(bytes);
            assert!(frames.order().is_err(), "{bytes:?}");
        }
    }
}
