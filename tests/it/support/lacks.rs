//! The one place before the verdict where models have their names: what they lack, in the user's order.

/// `stderr` of a run after the warnings that it begins with, which name models and no slots.
pub(crate) fn after_lacks(stderr: &str) -> String {
    let is_lack = |line: &&str| line.starts_with("warning: ") && line.ends_with(" cannot answer");
    stderr.lines().skip_while(is_lack).map(|line| format!("{line}\n")).collect()
}
