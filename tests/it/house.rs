//! The house's rules about its own files: layers, sizes, names and what lies at the top.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What may be seen at the top of the repository; the rest are dot-files.
const VISIBLE: [&str; 7] = ["Cargo.toml", "Cargo.lock", "src", "prompts", "tests", "fixtures", "README.md"];

/// What tools put there and git ignores.
const IGNORED: [&str; 2] = ["target", "ai-docs"];

/// The longest file.
const LONGEST: usize = 600;

/// In the row of layer 0 these are the words that the other modules of that row speak in.
const VOCABULARY: [&str; 4] = ["error", "ids", "fault", "money"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `dir` with this extension, as paths relative to the root.
fn files(dir: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root().join(dir)];
    while let Some(dir) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    assert!(!found.is_empty(), "no .{extension} file in `{dir}`");
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn every_test_file_is_part_of_its_binary() {
    for binary in ["it", "installed"] {
        let dir = Path::new("tests").join(binary);
        let main = read(&dir.join("main.rs"));
        let declared: BTreeSet<&str> =
            main.lines().filter_map(|line| line.trim().strip_prefix("mod ")?.strip_suffix(';')).collect();
        for entry in std::fs::read_dir(root().join(&dir)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_module = path.is_dir() || path.extension().is_some_and(|extension| extension == "rs");
            if is_module && name != "main" {
                assert!(declared.contains(name), "`{}` is in no `mod` of main.rs: it never runs", path.display());
            }
        }
    }
}

#[test]
fn no_file_is_longer_than_allowed() {
    let long: Vec<String> = files("src", "rs")
        .into_iter()
        .chain(files("tests", "rs"))
        .map(|path| (read(&path).lines().count(), path))
        .filter(|(lines, _)| *lines > LONGEST)
        .map(|(lines, path)| format!("{} ({lines})", path.display()))
        .collect();
    assert!(long.is_empty(), "over {LONGEST} lines: {long:?}");
}

#[test]
fn no_source_holds_a_nul_byte() {
    for path in files("src", "rs").into_iter().chain(files("tests", "rs")).chain(files("tests", "py")) {
        assert!(!std::fs::read(root().join(&path)).unwrap().contains(&0), "{}: search tools skip it", path.display());
    }
}

#[test]
fn no_module_has_a_name_that_says_nothing() {
    for path in files("src", "rs") {
        for part in path.with_extension("").components() {
            let part = part.as_os_str().to_str().unwrap();
            let empty = ["util", "utils", "common", "helper", "helpers", "core", "manager", "misc"];
            assert!(!empty.contains(&part), "{}", path.display());
        }
    }
}

#[test]
fn the_top_shows_only_what_the_design_lists() {
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = name.starts_with('.') || VISIBLE.contains(&name.as_str()) || IGNORED.contains(&name.as_str());
        assert!(known, "`{name}` does not belong at the top of the repository");
    }
}

/// The layer of each module, from the table in `lib.rs`.
fn layers() -> BTreeMap<String, u32> {
    let mut layers = BTreeMap::new();
    for line in read(Path::new("src/lib.rs")).lines() {
        let Some(row) = line.strip_prefix("//! | ") else { continue };
        let mut cells = row.split(" | ");
        let (Some(Ok(layer)), Some(modules)) = (cells.next().map(str::parse), cells.next()) else { continue };
        for module in modules.split_whitespace() {
            let name = module.trim_matches(|c| matches!(c, '[' | ']' | '`'));
            assert_eq!(layers.insert(name.to_owned(), layer), None, "`{name}` stands twice in the table");
        }
    }
    layers
}

/// A source without its comments and string literals.
fn code(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(next) = rest.find(['/', '"', '\'']) {
        out.push_str(&rest[..next]);
        rest = &rest[next..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with('"') {
            string_length(rest)
        } else if rest.starts_with("'\\\"'") || rest.starts_with("'\"'") {
            rest[1..].find("'").map_or(1, |end| end + 2)
        } else {
            out.push_str(&rest[..1]);
            1
        };
        rest = &rest[length..];
    }
    out + rest
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The modules of this crate that `code` names: `crate::x`, and each in `crate::{x, y::z}`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                let mut depth = 0;
                let mut start = 0;
                for (at, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth > 0 => depth -= 1,
                        ',' | '}' if depth == 0 => {
                            found.insert(identifier(group[start..at].trim()));
                            start = at + 1;
                            if c == '}' {
                                break;
                            }
                        }
                        _ => {}
                    }
                }
            }
            None => {
                found.insert(identifier(rest));
            }
        }
    }
    found.remove("");
    found
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn modules_import_only_from_lower_layers() {
    let layers = layers();
    let mut wrong = Vec::new();
    for path in files("src", "rs") {
        let mut parts = path.components().skip(1).map(|part| part.as_os_str().to_str().unwrap());
        let module = parts.next().unwrap().trim_end_matches(".rs");
        if matches!(module, "lib" | "main") {
            continue;
        }
        let layer = *layers.get(module).unwrap_or_else(|| panic!("`{module}` is not in the table of lib.rs"));
        for import in imports(&code(&read(&path))) {
            // Names that are no modules are re-exports or macros at the crate's root; `lib.rs` has none.
            let Some(of) = layers.get(&import) else {
                wrong.push(format!("{}: `crate::{import}` is not in the table of lib.rs", path.display()));
                continue;
            };
            let own = import == module;
            let word = layer == 0 && VOCABULARY.contains(&import.as_str()) && !VOCABULARY.contains(&module);
            if !own && !word && *of >= layer {
                wrong.push(format!("{} (layer {layer}) imports `{import}` (layer {of})", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_lists_every_module() {
    let layers = layers();
    let lib = read(Path::new("src/lib.rs"));
    let declared: BTreeSet<String> =
        lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).map(str::to_owned).collect();
    assert_eq!(layers.keys().cloned().collect::<BTreeSet<_>>(), declared);
}

#[test]
fn imports_are_found_in_every_form() {
    let source = r#"
        //! [`crate::verdict`] is only mentioned
        use crate::{config::{Model, Wire}, ids::SlotId, session};
        /* crate::engine */ fn f() -> crate::error::Result<()> { "crate::cli"; '"'; crate::fs::replace() }
    "#;
    let expected = ["config", "error", "fs", "ids", "session"];
    assert_eq!(imports(&code(source)).into_iter().collect::<Vec<_>>(), expected);
}
