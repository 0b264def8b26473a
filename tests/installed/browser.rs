//! A report in a real browser: it renders, its own script works, and nothing of an answer's does anything.

mod chromium;
mod proxy;
mod reviews;

use serde_json::{Value, json};

use crate::support::{TeamToml, TestEnv, run_and_judge, wait_until};
use chromium::Browser;
use proxy::Proxy;

/// What tries to reach a server, or to run.
const ATTACK: &str = "\
# Plan\n\n<script>window.pwned = 1; fetch('http://evil.example/a')</script>\n<img src=http://evil.example/b onerror=\"pwned=2\">\n\n\
![beacon](http://evil.example/c) [run](javascript:window.pwned=3) [link](http://evil.example/d)\n\n\
<link rel=prefetch href=http://evil.example/e><style>@import 'http://evil.example/f';</style>\n\n\
```\n</code></pre></div></details></article><script>window.pwned = 4</script>\n```\n\n\
<iframe src=http://evil.example/g></iframe><svg onload=\"window.pwned=5\"></svg>\n\n\
Same line.\n\n| a | b |\n| :-: | --: |\n| 1 | 2 |\n";

fn attacked() -> TestEnv {
    let env = TestEnv::new();
    let answer = format!("print-file {}", env.write("attack.md", ATTACK).display());
    let summary = "<script>window.pwned = 6</script><img src=http://evil.example/h>";
    let ballot = format!(
        "vote each ```vote\\nRESPONSE: {{alias}}\\nVERDICT: REJECT\\nCONFIDENCE: 8\\nSUMMARY: {summary}\\nKEY_ISSUES: {summary}\\n```\\n"
    );
    let config = TeamToml::new()
        .agent("kiwi", &[&answer])
        .agent("plum", &["answer # Plan\\n\\nOnly this.\\n\\nSame line.\\n"])
        .agent("dead", &["stderr <img src=http://evil.example/i onerror=pwned=7>", "exit 3"])
        .agent("fair", &["vote approve-word Only"])
        .agent("firm", &["vote approve-word Only"])
        .agent("foul", &[&ballot])
        .panel(&["kiwi", "plum", "dead"]);
    env.write("team.toml", config.text());
    run_and_judge(&env, &["--judges", "fair,firm,foul"], 0);
    env
}

/// The report of the only session, as a browser finds it on the disk.
fn report(env: &TestEnv) -> String {
    let output = env.team(&["report"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    format!("file://{}", String::from_utf8(output.stdout).unwrap().trim_end())
}

/// Fails when the page said anything on its console, broke its policy, or asked for anything but itself.
#[track_caller]
fn assert_quiet(browser: &Browser, url: &str) {
    for method in ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"] {
        assert_eq!(browser.told(method), [Value::Null; 0], "{method}");
    }
    let issues = browser.told("Audits.issueAdded");
    // That its history was changed without a person is about this test, not about the page.
    let issues: Vec<_> = issues.iter().filter(|issue| issue["issue"]["code"] != "GenericIssue").collect();
    assert_eq!(issues, [&Value::Null; 0]);
    let asked = browser.told("Network.requestWillBeSent");
    let asked: Vec<&str> = asked.iter().map(|request| request["request"]["url"].as_str().unwrap()).collect();
    assert_eq!(asked, [url]);
}

#[test]
fn no_request_leaves_a_report_and_no_script_of_an_answer_runs() {
    let env = attacked();
    let proxy = Proxy::start();
    let mut browser = Browser::start(proxy.address());
    // The same text in a page without care does reach the proxy, and its script runs: both would be noticed.
    let careless = env.write("careless.html", ATTACK);
    browser.open(&format!("file://{}", careless.display()));
    assert_eq!(browser.value("typeof window.pwned"), "number");
    wait_until("the careless page's request", || (!proxy.asked_for("evil.example").is_empty()).then_some(()));

    let before = proxy.asked_for("evil.example").len();
    let url = report(&env);
    browser.open(&url);
    // Everything is opened, compared and printed: what is built then is as harmless.
    browser.value("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
    for view in ["body", "raw", "diff"] {
        compare(&mut browser, view);
    }
    browser.call("Page.printToPDF", json!({}));
    assert_eq!(browser.value("typeof window.pwned"), "undefined");
    assert_quiet(&browser, &url);
    assert_eq!(proxy.asked_for("evil.example").len(), before);
    // It is there to be read.
    assert!(browser.value("document.body.textContent").as_str().unwrap().contains("window.pwned = 4"));
}

/// Has the first two answers compared; gives the text of what is shown.
fn compare(browser: &mut Browser, view: &str) -> String {
    let choose = format!(
        "(() => {{ const view = document.getElementById('view'); view.value = '{view}'; \
         view.dispatchEvent(new Event('change', {{ bubbles: true }})); \
         return document.getElementById('panes').textContent; }})()"
    );
    browser.value(&choose).as_str().unwrap().to_owned()
}

#[test]
fn answers_are_filtered_by_state_and_vote_and_compared() {
    let env = attacked();
    let proxy = Proxy::start();
    let mut browser = Browser::start(proxy.address());
    let url = report(&env);
    browser.open(&url);
    let shown = "[...document.querySelectorAll('article.answer')].filter((part) => part.offsetParent).map((part) => part.querySelector('.name').textContent).sort().join()";
    assert_eq!(browser.value(shown), "dead,kiwi,plum");
    browser.value("document.querySelector('input[value=FAILED]').click()");
    assert_eq!(browser.value(shown), "kiwi,plum");
    assert_eq!(browser.value("document.getElementById('filter-count').textContent"), "2 of 3 shown");
    let vote = |kind: &str| {
        format!(
            "(() => {{ const select = document.getElementById('filter-vote'); select.value = '{kind}'; select.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        )
    };
    browser.value(&vote("approve"));
    assert_eq!(browser.value(shown), "plum");
    // The columns and rows of the others are hidden too.
    let cells = "[...document.querySelectorAll('.matrix td')].filter((cell) => cell.offsetParent).length";
    assert_eq!(browser.value(cells), 3);
    browser.value(&vote(""));
    assert_eq!(browser.value(shown), "kiwi,plum");

    assert!(compare(&mut browser, "body").contains("Only this."));
    let told = "document.getElementById('compare-note').textContent";
    compare(&mut browser, "diff");
    let note = browser.value(told);
    assert!(note.as_str().unwrap().contains("lines are the same"), "{note}");
    let kinds = |kind: &str| format!("document.querySelectorAll('.diff td.{kind}').length");
    let (gone, new) = (browser.value(&kinds("gone")), browser.value(&kinds("new")));
    browser.value("document.getElementById('swap').click()");
    assert_eq!((browser.value(&kinds("gone")), browser.value(&kinds("new"))), (new, gone));
    // A link to an answer opens it.
    browser.value("document.querySelectorAll('details').forEach((part) => { part.open = false; })");
    browser.value("new Promise((done) => { addEventListener('hashchange', () => setTimeout(done)); document.querySelector('.ranking a').click(); })");
    assert_eq!(browser.value("document.querySelectorAll('details.read[open]').length"), 1);
    assert_quiet(&browser, &url);
}

/// Text whose contrast to what is behind it is below 4.5 (WCAG 2.2, 1.4.3; large text below 3), in the page's own colours.
const PALE: &str = "(() => {
  const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map((at) => top[at] * a + below[at] * (1 - a)); };
  const behind = (part) => {
    const layers = [];
    for (let at = part; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = new Set();
  for (const part of document.querySelectorAll('body *')) {
    const own = [...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !part.checkVisibility() || part.closest('.vh, option, script')) continue;
    const style = getComputedStyle(part);
    const back = behind(part);
    const color = parse(style.color);
    color[3] = (color[3] ?? 1) * Number(style.opacity);
    const [high, low] = [light(over(color, back)), light(back)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) found.add(`${part.tagName}.${part.className}: ${ratio.toFixed(2)}`);
  }
  return [...found];
})()";

#[test]
fn a_report_can_be_read_on_a_phone_in_the_dark_by_keyboard_and_on_paper() {
    let env = attacked();
    let proxy = Proxy::start();
    let mut browser = Browser::start(proxy.address());
    let url = report(&env);
    browser.open(&url);
    browser.value("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
    let mut papers = Vec::new();
    for scheme in ["light", "dark"] {
        browser.screen(1280, scheme);
        papers.push(browser.value("getComputedStyle(document.body).backgroundColor"));
        for view in ["body", "diff"] {
            compare(&mut browser, view);
            assert_eq!(browser.value(PALE), json!([]), "{scheme}");
        }
    }
    assert_ne!(papers[0], papers[1]);
    for width in [320, 768] {
        browser.screen(width, "light");
        assert_fits(&mut browser, width);
    }
    // The first thing that the keyboard reaches leads past the rest, and what has the focus shows it.
    browser.screen(1280, "light");
    browser.open(&url);
    browser.press("Tab", 9);
    assert_eq!(browser.value("document.activeElement.className"), "skip");
    assert_eq!(browser.value("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    let open = "document.querySelectorAll('details[open]').length";
    let before = browser.value(open);
    browser.value("addEventListener('beforeprint', () => { window.printed = document.querySelectorAll('details:not([open]):not(.source)').length; })");
    let pdf = browser.call("Page.printToPDF", json!({"printBackground": false}));
    assert!(pdf["data"].as_str().unwrap().starts_with("JVBERi"), "it is a PDF");
    assert_eq!(browser.value("window.printed"), 0, "all is open on paper");
    assert_eq!(browser.value(open), before, "and closed again");
    assert_quiet(&browser, &url);
}

/// Fails when the page is wider than its screen; a scroll bar may take some of that.
#[track_caller]
fn assert_fits(browser: &mut Browser, width: u32) {
    let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(wide <= u64::from(width), "{wide} columns on {width}");
}

#[test]
fn sixty_slots_and_an_answer_of_a_megabyte_are_shown() {
    let names: Vec<String> = (0..60).map(|number| format!("m{number}")).collect();
    let config = names.iter().enumerate().fold(TeamToml::new(), |config, (number, name)| match number {
        0 => config.agent(name, &["bytes 1000000"]),
        1 => config.agent(name, &["exit 3"]),
        _ => config.agent(name, &[&format!("answer # Plan {number}\\n\\nThe same.\\n")]),
    });
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let config = config.agent("fair", &["vote approve-word 7"]).agent("firm", &["vote approve-word 7"]).panel(&names);
    let env = TestEnv::with(&config);
    let judged = env.team(&["run-and-judge", "Which one?", "--judges", "fair,firm"]).output().unwrap();
    assert!(matches!(judged.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&judged.stderr));
    let proxy = Proxy::start();
    let mut browser = Browser::start(proxy.address());
    let url = report(&env);
    browser.open(&url);
    assert_eq!(browser.value("document.querySelectorAll('article.answer').length"), 60);
    assert_eq!(browser.value("document.querySelectorAll('.matrix tbody td').length"), 2 * 59);
    assert_eq!(
        browser.value("Object.keys(JSON.parse(document.getElementById('pairs').textContent)).length"),
        59 * 58 / 2
    );
    assert!(browser.value("document.querySelector('pre.raw').textContent.length").as_u64().is_some());
    for width in [320, 1280] {
        browser.screen(width, "light");
        assert_fits(&mut browser, width);
    }
    assert!(compare(&mut browser, "diff").contains("The same."));
    assert_quiet(&browser, &url);
}
