//! The only writers of files.
//!
//! Whole files are replaced atomically ([`replace`]), what people name for an output is written as it is ([`write_output`]), logs grow line by line ([`AppendLog`]), a session is owned
//! through a kernel lock ([`OwnerLock`]), and so is a temporary folder that goes with its process ([`ProcessFolder`]); whole
//! folders are copied and compared ([`Tree`]). Every error names the path. Nothing here knows what a file means.

mod append;
mod atomic;
mod folder;
mod lock;
mod output;
mod process_folder;
mod shared_sync;
mod stamps;
mod touched;
mod tree;
mod tree_copy;

pub use append::{AppendLog, append_line};
pub use atomic::{
    append, copy_file, create_dir_all, create_dir_exclusive, create_exclusive, create_private_dir,
    create_temporary_dir, create_whole, ensure_dir, is_temporary_name, link, move_dir, publish, remove_dir_all,
    remove_empty_dir, remove_if_exists, replace, replace_json, sync_dir, temporary_place,
};
use atomic::{rename, temporary_dir};
pub use folder::{EntryKind, Folder};
pub use lock::{LockState, OwnerLock};
pub use output::{output_target, prepare_output, write_output};
pub use process_folder::{AbandonedFolder, FolderUse, ProcessFolder, own_temporary_folders};
pub use shared_sync::SharedSync;
pub use stamps::Stamps;
pub use touched::{Touched, touched_since};
pub use tree::{Permissions, Tree, open_plain, read_plain};
pub use tree_copy::{copy_frozen, copy_paths, sync_file_system};
