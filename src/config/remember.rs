//! A panel put into the text of a settings file, everything else of which stays as it is: comments, order, blanks, the ends
//! of its lines.

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
    let changed = document.to_string();
    let is_crlf = text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count();
    let changed = if is_crlf { changed.replace("\r\n", "\n").replace('\n', "\r\n") } else { changed };
    Ok(Remembered { text: format!("{bom}{changed}"), shown })
}

fn put(table: &mut dyn toml_edit::TableLike, list: Array) {
    match table.get_mut("panel") {
        Some(Item::Value(old)) => {
            let mut value = old.as_array().and_then(|old| over_lines(old, &list)).unwrap_or(Value::Array(list));
            // A comment behind the list is about the setting, not about the names.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => drop(table.insert("panel", Item::Value(Value::Array(list)))),
    }
}

fn raw(text: Option<&toml_edit::RawString>) -> &str {
    text.and_then(toml_edit::RawString::as_str).unwrap_or_default()
}

/// `new` in the place of `old`, one name a line with the comments of both; `None` where `old` is on one line, which has none.
///
/// A comment behind a name that goes stays with that name in front of it.
fn over_lines(old: &Array, new: &Array) -> Option<Value> {
    let between: Vec<(String, String)> = old
        .iter()
        .map(|name| {
            let decor = name.decor();
            (raw(decor.prefix()).to_owned(), raw(decor.suffix()).to_owned())
        })
        .collect();
    let trailing = raw(Some(old.trailing()));
    if !between.iter().any(|(before, after)| before.contains('\n') || after.contains('\n')) && !trailing.contains('\n')
    {
        return None;
    }
    let comment = |line: &str| line.find('#').map(|at| line[at..].trim_end().to_owned());
    let names: Vec<String> = old.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect();
    // What stands on lines above a name, and behind it on its own; at the end what stands above the bracket.
    let mut above: Vec<Vec<String>> = vec![Vec::new(); names.len() + 1];
    let mut behind: Vec<Option<String>> = vec![None; names.len()];
    for (index, own) in above.iter_mut().enumerate() {
        let suffix = index.checked_sub(1).and_then(|before| between.get(before)).map_or("", |(_, suffix)| suffix);
        let gap = format!("{suffix}{}", between.get(index).map_or(trailing, |(prefix, _)| prefix));
        let (first, rest) = gap.split_once('\n').unwrap_or((&gap, ""));
        match (comment(first), index.checked_sub(1)) {
            (Some(text), Some(name)) => behind[name] = Some(text),
            (Some(text), None) => own.push(text),
            (None, _) => {}
        }
        own.extend(rest.lines().filter_map(comment));
    }
    let mut lines = Vec::new();
    for name in new.iter().filter_map(Value::as_str) {
        let known = names.iter().position(|old| old == name);
        lines.extend(known.map(|known| std::mem::take(&mut above[known])).into_iter().flatten());
        let said = known.and_then(|known| behind[known].take()).map(|text| format!(" {text}")).unwrap_or_default();
        lines.push(format!("{},{said}", Value::from(name)));
    }
    for (index, name) in names.iter().enumerate() {
        lines.append(&mut above[index]);
        lines.extend(behind[index].take().map(|text| format!("# {name}: {}", text.trim_start_matches(['#', ' ']))));
    }
    lines.append(&mut above[names.len()]);
    let text: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    format!("[{text}\n]").parse().ok()
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
        panel = [
          "claude",
          "openai@o",
          # x: old
        ] # why

        jobs = 2 # two

        [models.a]
        use = "claude"
        "#);
    }

    #[test]
    fn comments_within_a_list_stay_with_their_names_and_those_of_names_that_go_are_kept() {
        let text = "panel = [ # ours\n  # the fast one\n  \"openai@o\", # cheap\n  'x' # slow\n  ,\n  # the rest\n  \"y\"\n  # end\n]\n";
        insta::assert_snapshot!(remembered(text, None), @r#"
        panel = [
          "claude",
          # ours
          # the fast one
          "openai@o", # cheap
          # x: slow
          # the rest
          # end
        ]
        "#);
        // Once more the same changes nothing.
        let once = remembered(text, None);
        assert_eq!(remembered(&once, None), once);
    }

    #[test]
    fn the_ends_of_lines_stay_as_they_are() {
        let text = "# Ours.\r\npanel = [\r\n  \"claude\", # one\r\n]\r\njobs = 2\r\n";
        assert_eq!(
            remembered(text, None),
            "# Ours.\r\npanel = [\r\n  \"claude\", # one\r\n  \"openai@o\",\r\n]\r\njobs = 2\r\n"
        );
        assert_eq!(remembered("jobs = 2\r\n", Some("sql")).matches("\r\n").count(), 4);
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
