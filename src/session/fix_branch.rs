//! How a user takes the branch that a fix came to: lines for a shell, which work as they stand.

use super::shell_word;

/// What the first commit of a branch is, that repairs begin at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BranchBegin {
    /// The commit that was checked out.
    #[default]
    CheckedOut,
    /// What was not committed, on top of that one. The user's work tree still has it so, and git merges nothing over it.
    Uncommitted,
}

/// The lines that take all of `branch`, take the repairs alone, and drop it; `begin` is the commit that repairs begin at.
#[must_use]
pub fn branch_commands(branch: &str, begin: &str, kind: BranchBegin) -> [String; 3] {
    let begin = begin.get(..12).unwrap_or(begin);
    let name = shell_word(branch);
    let [take, pick] = match kind {
        BranchBegin::CheckedOut => [format!("git merge {name}"), format!("git cherry-pick {begin}..{name}")],
        // What is not committed is in `begin` to the byte, so that it becomes a commit by naming that; where the user
        // has committed since, git refuses. And what plumbing prints depends on no setting of the user's.
        BranchBegin::Uncommitted => [
            format!("git update-ref HEAD {begin} {begin}~1 && git reset -q && git merge {name}"),
            format!(
                "git diff-tree -p --binary {begin} {name} | git -C \"$(git rev-parse --show-toplevel)\" apply --whitespace=nowarn"
            ),
        ],
    };
    [take, pick, format!("git branch -D {name}")]
}

/// What these lines do, in order.
pub const BRANCH_COMMANDS_DO: [&str; 3] = ["take it", "take the repairs only", "drop it"];

/// What the user should know of a branch that begins like this.
#[must_use]
pub const fn branch_begin_told(kind: BranchBegin) -> Option<&'static str> {
    match kind {
        BranchBegin::CheckedOut => None,
        BranchBegin::Uncommitted => Some(
            "Its first commit holds what you had not committed. Taking it makes that a commit on your branch as well; \
             taking the repairs only adds them to your files, beside what is not committed.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_merged_over_what_is_not_committed() {
        let begin = "b".repeat(40);
        let [take, pick, drop] = branch_commands("team/fix-x", &begin, BranchBegin::CheckedOut);
        assert_eq!((take.as_str(), drop.as_str()), ("git merge team/fix-x", "git branch -D team/fix-x"));
        assert_eq!(pick, "git cherry-pick bbbbbbbbbbbb..team/fix-x");
        let [take, pick, _] = branch_commands("team/fix-x", &begin, BranchBegin::Uncommitted);
        assert!(take.starts_with("git update-ref HEAD bbbbbbbbbbbb bbbbbbbbbbbb~1 && "), "{take}");
        assert!(pick.contains(" apply "), "{pick}");
    }
}
