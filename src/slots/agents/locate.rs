//! Finds a program as the system would.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::config::Environment;

/// The absolute path of `program`: itself where it is one, else the first executable file of that name in `PATH`.
///
/// A relative part of `PATH` is passed over: a slot runs in another folder, where it would mean something else.
#[must_use]
pub fn locate(program: &str, environment: &Environment) -> Option<PathBuf> {
    if program.contains('/') {
        return is_executable(Path::new(program)).then(|| PathBuf::from(program));
    }
    if program.is_empty() {
        return None;
    }
    std::env::split_paths(environment.get("PATH")?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_an_executable_file_in_an_absolute_folder_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("a"), dir.path().join("b"));
        for folder in [&first, &second] {
            crate::fs::create_dir_all(folder).unwrap();
            crate::fs::replace(&folder.join("prog"), b"#!/bin/sh\n").unwrap();
        }
        let path = format!("relative:{}:{}", first.display(), second.display());
        let environment: Environment = [("PATH", path)].into_iter().collect();
        assert_eq!(locate("prog", &environment), None, "not executable");
        fs_err::set_permissions(second.join("prog"), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(locate("prog", &environment), Some(second.join("prog")));
        assert_eq!(locate("", &environment), None);
        assert_eq!(locate("prog", &Environment::default()), None);
    }
}
