//! A panel put into the text of a settings file, everything else of which stays as it is: comments, order, blanks.

use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// The changed text, and the lines that a person would have written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The whole file.
    pub text: String,
    /// What was put in.
    pub shown: String,
}

/// The text of a settings file with `names` as its `panel`, or as that of `[contexts.CONTEXT]`.
///
/// The error says what in the file is in the way.
pub fn with_panel(text: &str, context: Option<&str>, names: &[String]) -> Result<Remembered, String> {
    let bom = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let mut document: DocumentMut = text
        .trim_start_matches('\u{feff}')
        .parse()
        .map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let mut list = Array::new();
    list.extend(names.iter().map(String::as_str));
    let panel = format!("panel = {list}");
    let shown = match context {
        Some(name) => {
            let contexts = document.entry("contexts").or_insert_with(|| {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            });
            let contexts = contexts.as_table_like_mut().ok_or("`contexts` is not a table")?;
            let entry = contexts.entry(name).or_insert_with(|| Item::Table(Table::new()));
            let entry = entry.as_table_like_mut().ok_or_else(|| format!("`contexts.{name}` is not a table"))?;
            put(entry, list);
            let key = toml_edit::Key::new(name);
            format!("[contexts.{}] {panel}", key.display_repr())
        }
        None => {
            put(document.as_table_mut(), list);
            panel
        }
    };
    let text = document.to_string();
    Ok(Remembered { text: format!("{bom}{text}"), shown })
}

fn put(table: &mut dyn toml_edit::TableLike, list: Array) {
    let mut value = Value::Array(list);
    match table.get_mut("panel") {
        Some(Item::Value(old)) => {
            // A comment behind the list is about the setting, not about the names.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => drop(table.insert("panel", Item::Value(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(text: &str, context: Option<&str>) -> String {
        with_panel(text, context, &["claude".to_owned(), "openai@o".to_owned()]).unwrap().text
    }

    #[test]
    fn only_the_panel_changes() {
        let text = "# Ours.\npanel = [\n  \"x\", # old\n] # why\n\njobs = 2 # two\n\n[models.a]\nuse = \"claude\"\n";
        insta::assert_snapshot!(remembered(text, None), @r#"
        # Ours.
        panel = ["claude", "openai@o"] # why

        jobs = 2 # two

        [models.a]
        use = "claude"
        "#);
    }

    #[test]
    fn a_file_without_a_panel_gets_one_above_its_tables() {
        insta::assert_snapshot!(remembered("# Ours.\n[models.a]\nuse = \"claude\"\n", None), @r#"
        panel = ["claude", "openai@o"]
        # Ours.
        [models.a]
        use = "claude"
        "#);
        assert_eq!(remembered("", None), "panel = [\"claude\", \"openai@o\"]\n");
    }

    #[test]
    fn a_kind_of_task_keeps_its_words() {
        let text = "panel = [\"x\"]\n\n[contexts.sql]\nwords = [\"query\"] # mine\n";
        insta::assert_snapshot!(remembered(text, Some("sql")), @r#"
        panel = ["x"]

        [contexts.sql]
        words = ["query"] # mine
        panel = ["claude", "openai@o"]
        "#);
        insta::assert_snapshot!(remembered("jobs = 1\n", Some("a b")), @r#"
        jobs = 1

        [contexts."a b"]
        panel = ["claude", "openai@o"]
        "#);
        let inline = remembered("contexts = { debug = { panel = [\"x\"] } }\n", Some("debug"));
        assert_eq!(inline, "contexts = { debug = { panel = [\"claude\", \"openai@o\"] } }\n");
    }

    #[test]
    fn what_is_in_the_way_is_told() {
        let wrong = with_panel("contexts = 1\n", Some("debug"), &[]).unwrap_err();
        assert_eq!(wrong, "`contexts` is not a table");
        assert!(with_panel("panel = [", None, &[]).is_err());
    }

    #[test]
    fn what_was_put_in_is_shown_on_one_line() {
        let shown = |context| with_panel("", context, &["a".to_owned()]).unwrap().shown;
        assert_eq!(shown(None), "panel = [\"a\"]");
        assert_eq!(shown(Some("debug")), "[contexts.debug] panel = [\"a\"]");
    }
}
