//! What a program must be told by a file: it stands in a folder for one call alone, outside the session.

use std::path::PathBuf;

use super::inherited::Variables;

/// Something in the private folder of a call. Names are relative to the folder; missing parents are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivateFile {
    /// A folder.
    Folder(PathBuf),
    /// A file with this text.
    Text(PathBuf, String),
    /// A link to something of the user's.
    Link(PathBuf, PathBuf),
}

/// What one call needs besides its arguments and inherited variables.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// The contents of the private folder.
    pub(super) files: Vec<PrivateFile>,
    /// How often the program may repeat a failed request; `None` leaves it to the program.
    pub(super) retries: Option<u32>,
    /// Values that are secret whatever their variables are called.
    pub(super) secrets: Vec<String>,
}

/// Has temporary files made in the private folder, which goes with the call: some hold the prompt.
pub(super) fn private_temporary_files(call: &super::Call<'_>, variables: &mut Variables, files: &mut Vec<PrivateFile>) {
    variables.insert("TMPDIR".into(), call.private_dir.join("tmp").into());
    files.push(PrivateFile::Folder("tmp".into()));
}
