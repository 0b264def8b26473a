//! Landlock: what is allowed of files, and what is kept apart that no namespace keeps apart.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::super::enclosure::{Access, Enclosure};
use super::super::wire::Step;
use super::{AtStep, Failure};

/// The rights that were tried; a kernel that knows fewer keeps fewer.
const KNOWN: ABI = ABI::V5;

/// Keeps abstract sockets of outside from this process and all it will start, where the kernel can.
///
/// Rules on files are left out on purpose: with any of them nobody could mount, and an agent's own sandbox must.
pub(super) fn scope_sockets() -> Result<(), Failure> {
    let scoped = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::AbstractUnixSocket)
        .and_then(|ruleset| ruleset.create())
        .and_then(|ruleset| ruleset.restrict_self());
    scoped.map(drop).map_err(into_io).at(Step::ScopeSockets)
}

/// Lets this process and all it will start reach every file but those of the hidden folders, and change none of the
/// protected ones.
///
/// Landlock knows permissions only: everything beside the way to a hidden or protected folder is allowed, and of the
/// folders on the way only their listing. So nothing can be made directly in one of those.
pub(super) fn restrict(enclosure: &Enclosure) -> Result<(), Failure> {
    allow_all_but(enclosure).map_err(into_io).at(Step::RestrictFiles)
}

fn allow_all_but(enclosure: &Enclosure) -> Result<(), RulesetError> {
    let all = AccessFs::from_all(KNOWN);
    let ruleset = Ruleset::default()
        // Without the first version there is nothing to be had.
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(ABI::V6))?;
    let mut ruleset = ruleset.create()?;
    // Names and sizes stay in sight in any case.
    ruleset = allow(ruleset, Path::new("/"), AccessFs::ReadDir.into())?;
    let shown = enclosure.shown.iter().map(|shown| (shown.path.clone(), shown.access));
    for (path, access) in beside(&enclosure.hidden, &enclosure.protected).into_iter().chain(shown) {
        let access = if access == Access::Write { all } else { AccessFs::from_read(KNOWN) };
        ruleset = allow(ruleset, &path, access)?;
    }
    ruleset.restrict_self().map(drop)
}

/// Everything that is not on the way to one of `hidden` or `protected`: siblings of each step, symbolic links left out,
/// since what they lead to has its own rule or is meant to have none. What is protected is to be read.
fn beside(hidden: &[PathBuf], protected: &[PathBuf]) -> Vec<(PathBuf, Access)> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from("/")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) || hidden.contains(&path) {
                continue;
            }
            let kept = protected.iter().any(|kept| path.starts_with(kept));
            let on_the_way = |folder: &PathBuf| folder.starts_with(&path);
            if hidden.iter().any(on_the_way) || !kept && protected.iter().any(on_the_way) {
                open.push(path);
            } else {
                found.push((path, if kept { Access::Read } else { Access::Write }));
            }
        }
    }
    found
}

fn allow(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    // What has gone meanwhile, or may not be entered, needs no rule.
    let Ok(handle) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
    ruleset.add_rule(PathBeneath::new(handle, access))
}

/// The operating system's own error, wherever in the crate's it is.
fn into_io(error: RulesetError) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(found) = inner.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return io::Error::from_raw_os_error(found);
        }
        cause = inner.source();
    }
    // A kernel without it is told apart by the crate itself.
    rustix::io::Errno::OPNOTSUPP.into()
}
