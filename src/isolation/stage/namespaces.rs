//! The system calls that make a namespace, and the ones that give privileges away.

use std::fs::OpenOptions;
use std::io::{self, Write};

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::super::wire::Step;
use super::{AtStep, Failure};

/// What init needs to mount `/proc` and to give everything up afterwards.
const FOR_INIT: [CapabilitySet; 2] = [CapabilitySet::SYS_ADMIN, CapabilitySet::SETPCAP];

/// The highest capability number a kernel could know; unknown ones are skipped.
const HIGHEST_CAPABILITY: u32 = 63;

/// What root's agents keep: to own files as root does, and to make a user namespace of their own.
///
/// Without `SETFCAP` the sandbox of `codex` cannot be set up and its tool call vanishes with exit code 0. Not
/// `DAC_READ_SEARCH`: it opens files by handle, past every mount. Not `MKNOD`: it reads the disk below.
const KEPT_BY_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETFCAP);

/// The capabilities an agent of this user may have inside a namespace.
pub(super) fn kept() -> CapabilitySet {
    if rustix::process::geteuid().is_root() { KEPT_BY_ROOT } else { CapabilitySet::empty() }
}

/// Outer stage: the next child is the first process of a new PID namespace, with mounts of its own.
pub(super) fn enter(user: bool) -> Result<(), Failure> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID;
    if user {
        flags |= CloneFlags::CLONE_NEWUSER;
    }
    unshare(flags).at(Step::Unshare)?;
    if user {
        // One id, mapped to itself. Supplementary groups keep working; they cannot be changed.
        overwrite("/proc/self/setgroups", "deny").at(Step::MapIds)?;
        overwrite("/proc/self/uid_map", &format!("{uid} {uid} 1")).at(Step::MapIds)?;
        overwrite("/proc/self/gid_map", &format!("{gid} {gid} 1")).at(Step::MapIds)?;
    }
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).at(Step::DetachMounts)?;
    if user {
        pass_capabilities().at(Step::PassCapabilities)?;
    }
    Ok(())
}

/// Init: mounts of its own.
pub(super) fn leave_mounts() -> Result<(), Failure> {
    unshare(CloneFlags::CLONE_NEWNS).at(Step::Unshare)
}

/// Carries [`FOR_INIT`] over the exec of init, where the user is not root inside.
fn pass_capabilities() -> rustix::io::Result<()> {
    let mut sets = capabilities(None)?;
    for capability in FOR_INIT {
        sets.inheritable |= capability;
    }
    set_capabilities(None, sets)?;
    for capability in FOR_INIT {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Init: makes the agent's process id differ from that of other slots.
///
/// Agents name sockets and files in shared places after their process id, and without this each one is process 2 of
/// its namespace. A kernel that refuses costs only that courtesy.
pub(super) fn number_processes_after(seed: u32) {
    overwrite("/proc/sys/kernel/ns_last_pid", &seed.to_string()).ok();
}

/// Gives up every capability but `kept`, for this process and all it will start.
pub(super) fn drop_privileges(kept: CapabilitySet) -> Result<(), Failure> {
    for number in 0..=HIGHEST_CAPABILITY {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(capability) {
            continue;
        }
        match remove_capability_from_bounding_set(capability) {
            // Beyond the last one this kernel knows.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error).at(Step::DropPrivileges),
        }
    }
    clear_ambient_capability_set().at(Step::DropPrivileges)?;
    keep_only(kept).at(Step::DropPrivileges)?;
    forbid_new_privileges()
}

/// Outer stage, once init runs: it needs nothing any more.
pub(super) fn drop_all() -> rustix::io::Result<()> {
    clear_ambient_capability_set()?;
    keep_only(CapabilitySet::empty())
}

fn keep_only(kept: CapabilitySet) -> rustix::io::Result<()> {
    let permitted = capabilities(None)?.permitted & kept;
    set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() })
}

/// No program started from here on gains privileges, so none can leave the reach of our signals.
pub(super) fn forbid_new_privileges() -> Result<(), Failure> {
    set_no_new_privs(true).at(Step::DropPrivileges)
}

/// Keeps processes of the same user out of this one's memory and `/proc` entries.
pub(super) fn hide_memory() -> Result<(), Failure> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::DropPrivileges)
}

/// Writes a kernel knob in one call.
fn overwrite(path: &str, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}
