//! Private temporary folders for sessions: each holds one, is its owner's alone, and stays until somebody removes it.

use std::io;
use std::path::{Path, PathBuf};

use super::SessionError;
use crate::fs;

/// How the folder of a temporary session begins, below the system's temporary folder.
const PREFIX: &str = "team-session-";

/// Makes the folder that a temporary session is made in. Its path has no symbolic links.
pub(super) fn make() -> io::Result<PathBuf> {
    fs::create_temporary_dir(PREFIX)
}

/// Removes a folder in which no session could be made. What is in it is kept where there is anything.
pub(super) fn discard(folder: &Path) {
    fs::remove_empty_dir(folder).ok();
}

/// The folders of this user's temporary sessions. A link by such a name, or somebody else's folder, is none of them.
pub fn temporary_folders() -> Vec<PathBuf> {
    fs::own_temporary_folders(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes())).unwrap_or_default()
}

/// Whether the session of this folder is a temporary one.
#[must_use]
pub fn is_temporary(session: &Path) -> bool {
    let Some(folder) = session.parent() else { return false };
    let named = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    named && fs::temporary_place().is_ok_and(|place| folder.parent() == Some(place.as_path()))
}

/// Why a session's folder could not be made, if that is why: what is no fault of the folder (memory, descriptors, a limit
/// of this process) would be the same elsewhere.
pub(super) fn refusal(error: &SessionError) -> Option<String> {
    use io::ErrorKind as Kind;
    let SessionError::Io(error) = error else { return None };
    let of_the_folder = matches!(
        error.kind(),
        Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
            | Kind::StorageFull
            | Kind::QuotaExceeded
            | Kind::NotFound
            | Kind::NotADirectory
            | Kind::AlreadyExists
            | Kind::InvalidFilename
            | Kind::TooManyLinks
            | Kind::StaleNetworkFileHandle
            | Kind::Unsupported
    );
    of_the_folder.then(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn only_what_is_about_the_folder_is_a_reason_to_go_elsewhere() {
        let refused = |errno: Errno| refusal(&SessionError::Io(errno.into())).is_some();
        let about = [
            Errno::ACCESS,
            Errno::PERM,
            Errno::ROFS,
            Errno::NOSPC,
            Errno::DQUOT,
            Errno::NOENT,
            Errno::NOTDIR,
            Errno::EXIST,
            Errno::NAMETOOLONG,
            Errno::STALE,
        ];
        for errno in about {
            assert!(refused(errno), "{errno}");
        }
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::FBIG, Errno::INTR] {
            assert!(!refused(errno), "{errno}");
        }
        assert_eq!(refusal(&SessionError::Exists("x".into())), None);
    }

    #[test]
    fn a_temporary_session_is_told_by_where_it_is() {
        let folder = make().unwrap();
        assert!(is_temporary(&folder.join("team-x")) && temporary_folders().contains(&folder));
        assert!(!is_temporary(&folder) && !is_temporary(Path::new("/home/team-session-x/team-x")));
        discard(&folder);
        assert!(!folder.exists());
    }
}
