//! Time and memory of processes.

use std::array;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// One side of a ratio: does its work once and says how long that took.
pub(crate) type Side<'a> = &'a mut dyn FnMut() -> Duration;

/// The median time of each side.
///
/// The sides take turns, so that whatever else the machine does meets all of them; a first turn of each warms caches
/// and is not counted.
pub(crate) fn medians<const N: usize>(turns: usize, mut sides: [Side<'_>; N]) -> [Duration; N] {
    let mut times = [const { Vec::new() }; N];
    for turn in 0..=turns {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let time = side();
            if turn > 0 {
                times.push(time);
            }
        }
    }
    array::from_fn(|side| {
        times[side].sort();
        times[side][turns / 2]
    })
}

/// The time of `work`.
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Runs a command to its end, which must be a success.
pub(crate) fn run(command: &mut Command) -> Duration {
    time(|| drop(succeed(command, command_output)))
}

/// Runs a command to its end; gives its own peak memory in bytes too, not that of its children.
pub(crate) fn run_with_peak(command: &mut Command) -> (Duration, u64) {
    let mut peak = 0;
    let time = time(|| {
        drop(succeed(command, |command| {
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (output, seen) = watched(child);
            peak = seen;
            output
        }));
    });
    assert!(peak > 0, "the kernel gives no peak memory");
    (time, peak)
}

fn command_output(command: &mut Command) -> Output {
    command.output().unwrap()
}

fn succeed(command: &mut Command, run: impl FnOnce(&mut Command) -> Output) -> Output {
    let output = run(command.stdin(Stdio::null()));
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    output
}

/// Reads the kernel's high-water mark while the child lives; it only grows, so the last reading is the peak but for the
/// last moments.
fn watched(child: Child) -> (Output, u64) {
    let status = format!("/proc/{}/status", child.id());
    // Once at once: a short run may be over before the other thread has begun to look.
    let (done, peak) = (AtomicBool::new(false), AtomicU64::new(high_water_mark(&status).unwrap_or(0)));
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(high_water_mark(&status).unwrap_or(0), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2));
            }
        });
        let output = child.wait_with_output().unwrap();
        done.store(true, Ordering::Relaxed);
        output
    });
    (output, peak.into_inner())
}

fn high_water_mark(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// Many slots and streams at once need many descriptors; the limit is passed on to what is measured.
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
}
