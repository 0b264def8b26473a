//! The results of a judged session once more, under the flat names that callers of old know: `ai-docs/team-MODEL.md` for
//! each complete answer, `ai-docs/team-consolidated.md` for the verdict.
//!
//! Only for a session that wants it on record, and only once its verdict has told the names anyway. Nothing is written
//! over: a name that is taken gets `-2` and so on, unless what has it is the same text already.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::RunPlan;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::session::{Event, History, Layout, Manifest, Meta, Session, Status, is_temporary};

/// The folder of the flat names, in the current one.
pub const FLAT_FOLDER: &str = "ai-docs";

/// The most bytes of a model's name in the name of a file.
const LONGEST_NAME: usize = 120;

/// How many names are tried for one file.
const MOST_NAMES: u32 = 10_000;

/// Whether the results of the session are to be copied once there is a verdict. One that was moved away to be kept is a
/// session like any other.
pub fn wants_flat_copies(layout: &Layout) -> Result<bool> {
    Ok(is_temporary(layout.root()) && RunPlan::read(&History::read(&layout.events())?.records)?.legacy)
}

/// What a reader of a later verdict should know: from the first one on the answers lie about by name.
pub(super) fn earlier_copies(session: &Session) -> Result<Vec<String>> {
    let records = session.panel().records();
    let told = records.iter().any(|record| matches!(record.event, Event::Verdict { .. }));
    let legacy = told && is_temporary(session.layout().root()) && RunPlan::read(records)?.legacy;
    let note = "after the verdict before, the answers were copied to files named by their models, which a judge's program \
                may have read";
    Ok(legacy.then(|| note.to_owned()).into_iter().collect())
}

/// Copies the verdict and every complete answer of the session at `layout`, which has a verdict, to `folder`. Gives the
/// files, also those that were there already with the same text.
///
/// # Errors
/// Something could not be copied; the others were all the same. Doing it again copies what is missing.
pub fn copy_flat(layout: &Layout, folder: &Path) -> Result<Vec<PathBuf>> {
    let phase = Meta::read(&layout.meta())?.kind.as_str();
    let manifest = Manifest::read(&layout.manifest())?;
    let status = Status::read(&layout.status())?;
    let mut results =
        vec![(format!("{phase}-consolidated"), crate::fs::read_plain(layout.verdict_md()).map_err(Error::from))];
    // In the user's order, so that seats of one model are numbered as they were listed.
    for slot in &manifest.shuffle_order {
        let (Some(member), Some(entry)) = (manifest.member(*slot), status.models.get(slot)) else { continue };
        let name = format!("{phase}-{}", file_safe(&member.model));
        match entry.read_answer(layout, *slot) {
            Ok(None) => {}
            Ok(Some(answer)) => results.push((name, Ok(answer))),
            Err(error) => results.push((name, Err(error.into()))),
        }
    }
    let all = results.len();
    let mut taken = BTreeSet::new();
    let mut refused = Vec::new();
    let made = fs::create_dir_all(folder);
    for (name, bytes) in results {
        let copied = bytes.and_then(|bytes| match &made {
            Ok(()) => place(folder, &name, &bytes, &taken).map_err(Error::from),
            Err(error) => Err(Error::new(ErrorKind::Io, error.to_string())),
        });
        match copied {
            Ok(path) => drop(taken.insert(path)),
            Err(error) => refused.push(format!("`{name}.md`: {}", error.chain())),
        }
    }
    if refused.is_empty() {
        return Ok(taken.into_iter().collect());
    }
    let what = format!("{} of {all} results could not be copied to `{}`", refused.len(), folder.display());
    let error = refused.into_iter().fold(Error::new(ErrorKind::Io, what), |error, file| error.hint(file));
    Err(taken.iter().fold(error, |error, path| error.hint(format!("`{}` is there", path.display()))))
}

/// Puts `bytes` into a file of `folder` that is called `name`, or `name-2` and so on where that is taken.
fn place(folder: &Path, name: &str, bytes: &[u8], taken: &BTreeSet<PathBuf>) -> io::Result<PathBuf> {
    for number in 1..=MOST_NAMES {
        let path = folder.join(if number == 1 { format!("{name}.md") } else { format!("{name}-{number}.md") });
        match fs::create_whole(&path, bytes) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Of an earlier try; two answers of the same text have a file each.
                if !taken.contains(&path) && holds(&path, bytes) {
                    return Ok(path);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("all names up to `{name}-{MOST_NAMES}.md` are taken")))
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    // What is no file may never end.
    let same_size = fs_err::metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64);
    same_size && fs_err::read(path).is_ok_and(|found| found == bytes)
}

/// A model's name as a part of a file's: letters, digits, `.`, `_` and `-`.
fn file_safe(model: &str) -> String {
    let mut name = String::new();
    for c in model.chars() {
        let c = if c.is_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
        if !(c == '-' && name.ends_with('-')) && name.len() + c.len_utf8() <= LONGEST_NAME {
            name.push(c);
        }
    }
    match name.trim_matches(['-', '.']) {
        "" => "model".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_becomes_a_file_of_this_folder_whatever_is_in_it() {
        for (model, expected) in [
            ("claude:opus", "claude-opus"),
            ("openrouter@qwen/qwen3-32b", "openrouter-qwen-qwen3-32b"),
            ("../../etc/passwd", "etc-passwd"),
            (".hidden", "hidden"),
            ("a \u{1b}[31m\u{202e}b", "a-31m-b"),
            ("日本", "日本"),
            ("//", "model"),
        ] {
            assert_eq!(file_safe(model), expected);
        }
        assert_eq!(file_safe(&"語".repeat(200)).len(), LONGEST_NAME);
    }

    #[test]
    fn nothing_is_written_over_and_the_same_text_is_not_written_twice() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let none = BTreeSet::new();
        fs::replace(&path("a.md"), b"theirs").unwrap();
        assert_eq!(place(dir.path(), "a", b"ours", &none).unwrap(), path("a-2.md"));
        assert_eq!(place(dir.path(), "a", b"ours", &none).unwrap(), path("a-2.md"), "the second time");
        let taken = BTreeSet::from([path("a-2.md")]);
        assert_eq!(place(dir.path(), "a", b"ours", &taken).unwrap(), path("a-3.md"), "another answer of this text");
        std::os::unix::fs::symlink("/nonexistent", path("b.md")).unwrap();
        assert_eq!(place(dir.path(), "b", b"x", &none).unwrap(), path("b-2.md"), "nor through a link");
        assert_eq!(fs_err::read(path("a.md")).unwrap(), b"theirs");
        assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 5, "no temporary file is left");
    }
}
