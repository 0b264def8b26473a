//! The text of a `.gitignore`.

/// `text` with `line` at its end, after a comment; `None` when the line is there already. The caller writes the file.
#[must_use]
pub fn with_line(text: &str, line: &str, comment: &str) -> Option<String> {
    let bare = |line: &str| line.trim().trim_matches('/').to_owned();
    if text.lines().any(|known| bare(known) == bare(line)) {
        return None;
    }
    let mut changed = text.to_owned();
    if !changed.is_empty() && !changed.ends_with('\n') {
        changed.push('\n');
    }
    changed.push_str(&format!("# {comment}\n{line}\n"));
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_added_once_and_on_a_line_of_its_own() {
        let once = with_line("/target", "/sessions/", "c").unwrap();
        assert_eq!(once, "/target\n# c\n/sessions/\n");
        assert_eq!(with_line(&once, "/sessions/", "c"), None);
        assert_eq!(with_line("sessions\n", "/sessions/", "c"), None);
        assert_eq!(with_line("", "/s/", "c").unwrap(), "# c\n/s/\n");
    }
}
