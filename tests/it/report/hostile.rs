//! What models wrote does nothing in a report: no element, address, attribute or character of theirs acts.

use std::collections::BTreeSet;

use base64::Engine;
use proptest::prelude::*;
use sha2::Digest;

use super::document::{Document, Element};
use super::report_of;
use crate::support::{Session, TeamToml, TestEnv, run_and_judge};

/// The elements that a report is made of.
const KNOWN: [&str; 66] = [
    "a",
    "article",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "code",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "fieldset",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "input",
    "label",
    "legend",
    "li",
    "main",
    "meta",
    "nav",
    "noscript",
    "ol",
    "option",
    "p",
    "pre",
    "q",
    "rect",
    "script",
    "section",
    "select",
    "span",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "time",
    "small",
    "abbr",
    "figure",
    "figcaption",
    "aside",
];

/// The attributes that take a report's reader somewhere or load something. None may.
const LOADING: [&str; 12] = [
    "src",
    "srcset",
    "data",
    "action",
    "formaction",
    "poster",
    "background",
    "ping",
    "style",
    "srcdoc",
    "xlink:href",
    "manifest",
];

/// Fails unless nothing in `report` can act but its own script, and its policy says so to the browser.
#[track_caller]
fn assert_inert(report: &Document) {
    report.assert_nested();
    for Element { name, attributes } in report.all() {
        assert!(KNOWN.contains(&name.as_str()), "<{name}>");
        for (attribute, value) in attributes {
            assert!(!attribute.starts_with("on"), "<{name} {attribute}={value}>");
            assert!(!LOADING.contains(&attribute.as_str()), "<{name} {attribute}={value}>");
            if attribute == "href" {
                let lower = value.to_ascii_lowercase();
                let safe = ["#", "http://", "https://", "mailto:"].iter().any(|start| lower.starts_with(start));
                assert!(name == "a" && safe, "<{name} href={value}>");
            }
        }
        if name == "a" && attributes["href"].starts_with(['h', 'H', 'm', 'M']) {
            assert_eq!(attributes["rel"], "noopener noreferrer nofollow");
        }
    }
    // One script runs, one style is used, and the policy names exactly these.
    let scripts: Vec<_> = report.elements("script").map(|script| script.attribute("type")).collect();
    assert_eq!(scripts, [Some("application/json"), None]);
    assert_eq!(report.elements("style").count(), 1);
    let policy = report.elements("meta").find(|meta| meta.attribute("http-equiv") == Some("Content-Security-Policy"));
    let policy = policy.unwrap().attribute("content").unwrap();
    let hash = |text: &str| {
        let digest = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text.as_bytes()));
        format!("'sha256-{digest}'")
    };
    let (script, style) = (hash(&report.script("")), hash(&report.text_of(|element| element.name == "style")));
    assert_eq!(
        policy,
        format!("default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'")
    );
    // No id of an answer's hides one of the report's.
    let ids: Vec<&str> = report.all().filter_map(|element| element.attribute("id")).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

/// Everything that could act.
const ATTACK: &str = "\
# </h4><script>window.pwned = 1</script>\n\n\
<script>window.pwned = 2; fetch('http://127.0.0.1:9/')</script>\n\n\
<img src=x onerror=alert(1)> ![beacon](https://evil.example/pixel.png \"t\")\n\n\
[one](javascript:alert(1)) [two](JaVaScRiPt:alert(1)) [three](java\tscript:alert(1)) [four](data:text/html,x)\n\
[five](vbscript:x) [six](file:///etc/passwd) [seven](//evil.example) [eight](&#106;avascript:alert(1))\n\
[nine](  javascript:alert(1)) [ten](<javascript:alert(1)>) [bank](https://evil.example/login \"x\\\" onclick=alert(1)\")\n\
<javascript:alert(1)> <https://plain.example/?a=1&b='2'> <me@example.org>\n\n\
[![nested](https://evil.example/a.png)](https://evil.example) [ref]\n\n[ref]: javascript:alert(2)\n\n\
| a | b |\n| :-: | --: |\n| <b onclick=x> | `<i>` |\n\n\
```\"><script>alert(1)</script>\n</code></pre></details></article><script>window.pwned = 3</script>\n```\n\n\
<style>body { display: none }</style>\n<base href=\"https://evil.example\">\n<meta http-equiv=refresh content=\"0\">\n\
<iframe srcdoc=\"<script>x</script>\"></iframe><form action=https://evil.example><input name=a></form>\n\n\
<!-- <h1> -->\n<![CDATA[ x ]]>\n<?php x ?>\n\n\
{{ 7 * 7 }} {% include \"verdict.html\" %} &lt;script&gt; &#x3c;script&#x3e;\n\n\
Bidi \u{202e}gpj.exe\u{2066} zero\u{200b}width tag\u{e0041} escape \u{1b}[2J bell \u{7} c1 \u{9b}31m\n\n\
- [x] done\n- [ ] not\n\n[^1]: note\n\n~~gone~~ $x$ ^up^\n";

/// A session in which everything that is quoted is `ATTACK`: answers, ballots, an error log, the task.
fn attacked() -> (TestEnv, Session) {
    let env = TestEnv::new();
    let answer = env.write("attack.md", ATTACK);
    let answer = format!("print-file {}", answer.display());
    let words = "<script>window.pwned = 4</script> ![x](https://evil.example) \\xe2\\x80\\xae";
    let ballot = format!(
        "vote each ```vote\\nRESPONSE: {{alias}}\\nVERDICT: APPROVE\\nCONFIDENCE: 8\\nSUMMARY: {words}\\nKEY_ISSUES: \
         <img src=x onerror=alert(5)>\\n```\\n"
    );
    let config = TeamToml::new()
        .agent("kiwi", &[&answer])
        .agent("plum", &[&answer])
        .agent("dead", &["stderr <script>window.pwned = 6</script>", &answer, "exit 3"])
        .agent("fair", &[&ballot])
        .agent("firm", &["vote reject"])
        .panel(&["kiwi", "plum", "dead"]);
    env.write("team.toml", config.text());
    run_and_judge(&env, &["--judges", "fair,firm"], 0);
    let session = env.session();
    (env, session)
}

#[test]
fn nothing_that_a_model_wrote_acts_in_a_report() {
    let (env, _session) = attacked();
    let report = report_of(&env, 0);
    assert_inert(&report);
    let text = report.text();
    // It can be read all the same, also what would hide.
    for part in
        ["window.pwned = 1", "alert(1)", "https://evil.example/pixel.png", "<U+202E>gpj.exe", "␛[2J", "{{ 7 * 7 }}"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains("window.pwned = 6"), "the log of the slot that failed");
    // A link says where it goes where its own words do not.
    let links: Vec<&str> =
        report.elements("a").filter_map(|link| link.attribute("href")).filter(|h| !h.starts_with('#')).collect();
    assert!(links.contains(&"https://evil.example/login"), "{links:?}");
    assert!(links.contains(&"https://plain.example/?a=1&b='2'"), "{links:?}");
    assert!(links.contains(&"mailto:me@example.org"), "{links:?}");
    assert!(text.contains("(https://evil.example/login)"), "{text}");
}

#[test]
fn the_raw_text_is_the_answer_character_by_character() {
    let (env, session) = attacked();
    let report = report_of(&env, 0);
    let id = session.id_of("kiwi");
    let label = format!("Raw text of answer {id}");
    let shown = report.text_of(|element| element.attribute("aria-label") == Some(label.as_str()));
    // A browser drops a line end right after the tag.
    let shown = shown.strip_prefix('\n').unwrap();
    let hidden = [
        ("\u{202e}", "<U+202E>"),
        ("\u{2066}", "<U+2066>"),
        ("\u{200b}", "<U+200B>"),
        ("\u{e0041}", "<U+E0041>"),
        ("\u{1b}", "␛"),
        ("\u{7}", "␇"),
        ("\u{9b}", "<U+009B>"),
    ];
    let expected = hidden.iter().fold(ATTACK.to_owned(), |text, (from, to)| text.replace(from, to));
    assert_eq!(shown.trim_end(), expected.trim_end());
}

#[test]
fn everything_has_a_name_for_who_cannot_see_it() {
    let (env, _session) = attacked();
    let report = report_of(&env, 0);
    assert_eq!(report.elements("html").next().unwrap().attribute("lang"), Some("en"));
    let ids: BTreeSet<&str> = report.all().filter_map(|element| element.attribute("id")).collect();
    for element in report.all() {
        for name in ["aria-labelledby", "for"] {
            if let Some(target) = element.attribute(name) {
                assert!(ids.contains(target), "<{} {name}={target}>", element.name);
            }
        }
        if let Some(target) = element.attribute("href").and_then(|href| href.strip_prefix('#')) {
            assert!(ids.contains(target), "#{target}");
        }
        let labelled = ["aria-labelledby", "aria-label"].iter().any(|name| element.attribute(name).is_some());
        match element.name.as_str() {
            "section" | "article" | "nav" | "form" => {
                assert!(labelled || element.class("failure"), "{element:?}");
            }
            "th" => assert!(element.attribute("scope").is_some(), "{element:?}"),
            "svg" => assert_eq!(element.attribute("aria-hidden"), Some("true")),
            // What scrolls by itself must be reached by the keyboard.
            "div" | "pre"
                if element.class("scroll") && element.attribute("tabindex").is_some() || element.class("raw") =>
            {
                assert_eq!(element.attribute("role"), Some("region"), "{element:?}");
                assert!(labelled && element.attribute("tabindex") == Some("0"), "{element:?}");
            }
            _ => {}
        }
    }
    let landmarks = ["header", "nav", "main", "footer"].map(|name| report.elements(name).count());
    assert_eq!(landmarks, [1, 1, 1, 1]);
    assert_eq!(report.elements("h1").count(), 1);
    // Headings go down one level at a time, those of answers below the report's own.
    let levels = report.all().filter_map(|element| element.name.strip_prefix('h')?.parse::<u32>().ok());
    let levels: Vec<u32> = levels.collect();
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_whatsoever_acts(text in "([<>&\"'`#*_~|\\[\\]()!:{}%\\\\/\n a-z0-9\u{202e}\u{0}\u{1b}]|<script>|javascript:|https://x|```|\\]\\(){0,80}") {
        let html = team::report::page::markdown_html(&text);
        let document = Document::parse(&format!("<div>{html}</div>"));
        document.assert_nested();
        for element in document.all() {
            for (attribute, value) in &element.attributes {
                let plain = match attribute.as_str() {
                    "href" => ["http://", "https://", "mailto:"].iter().any(|s| value.to_ascii_lowercase().starts_with(s)),
                    "rel" | "target" => element.name == "a",
                    "start" => value.parse::<u64>().is_ok(),
                    "scope" => value == "col",
                    "class" => ["mark", "inert", "address", "scroll"].contains(&value.as_str()),
                    _ => false,
                };
                prop_assert!(plain, "<{} {}={:?}> of {:?}", element.name, attribute, value, text);
            }
            prop_assert!(KNOWN.contains(&element.name.as_str()) && element.name != "script", "<{}> of {:?}", element.name, text);
        }
        let shown = document.text();
        prop_assert!(!shown.contains(['\u{202e}', '\u{0}', '\u{1b}']), "{:?}", shown);
    }
}
