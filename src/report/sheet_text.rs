//! A sheet as text: what `team report --text` prints, from 40 to 200 columns wide.

use std::fmt::Write;

use super::format::{columns, cut};
use super::sheet::{Decided, Issue, Quoted, Sheet, TimeRow, Voted};
use crate::judging::push_visible;

/// The narrowest and the widest text.
const WIDTHS: (usize, usize) = (40, 200);

/// How many lines of an answer or a log are shown; `team show` prints the whole.
const MOST_LINES: usize = 12;

/// Beyond these the matrix is a line for each judge.
const WIDEST_CELL: usize = 5;

/// The report as text for a terminal of this many columns: no colour, no control characters, no line wider than that.
#[must_use]
pub fn sheet_text(sheet: &Sheet, width: usize) -> String {
    let mut page = Page { out: String::new(), width: width.clamp(WIDTHS.0, WIDTHS.1) };
    verdict(sheet, &mut page);
    if let Some(decided) = &sheet.decided {
        votes(decided, &mut page);
    }
    if let Some(voted) = &sheet.voted {
        members(voted, &mut page);
    }
    answers(sheet, &mut page);
    timeline(sheet, &mut page);
    failures(sheet, &mut page);
    integrity(sheet, &mut page);
    task(sheet, &mut page);
    page.out
}

fn verdict(sheet: &Sheet, page: &mut Page) {
    page.paragraph("", &sheet.headline.line);
    page.out.push('\n');
    if let Some(banner) = &sheet.headline.banner {
        page.paragraph("! ", &format!("{banner}."));
    }
    if !sheet.integrity.verified {
        page.paragraph("! ", "The folder is not as it was recorded; see Integrity below.");
    }
    page.paragraph("", &sheet.headline.sentence);
    page.out.push('\n');
    page.paragraph("session  ", &sheet.session);
    page.paragraph("about    ", &sheet.target);
    let owner = sheet.owner.as_deref().map(|owner| format!(", owned by {owner}")).unwrap_or_default();
    page.paragraph("state    ", &format!("{}{owner}, {}", sheet.state, sheet.took));
    page.paragraph("began    ", &sheet.started);
    for (name, value) in [("tokens   ", &sheet.timeline.tokens), ("cost     ", &sheet.timeline.cost)] {
        if let Some(value) = value {
            page.paragraph(name, value);
        }
    }
    let Some(decided) = &sheet.decided else { return };
    page.heading("Ranking");
    let counts = if decided.by_pairs { ["won", "lost", "tied"] } else { ["approve", "reject", "abstain"] };
    let mut rows =
        vec![["rank", "answer", "score", "95 % interval", counts[0], counts[1], counts[2], "model"].map(str::to_owned)];
    rows.extend(decided.ranking.iter().map(|row| {
        let won = if row.won { ", won" } else { "" };
        [
            format!("{}{won}", row.rank),
            row.seat.id.to_string(),
            row.score.clone(),
            row.interval.clone(),
            row.approvals.to_string(),
            row.rejections.to_string(),
            row.abstentions.to_string(),
            row.seat.name.clone().unwrap_or_default(),
        ]
    }));
    page.table(&rows, &[0, 1, 2, 7, 3, 4, 5, 6]);
}

fn votes(decided: &Decided, page: &mut Page) {
    if !decided.by_pairs {
        page.heading("Votes (judge by answer)");
        matrix(decided, page);
    }
    page.heading("Judges");
    let mut rows = vec![["judge", "state", "approve", "reject", "flips", "lean", "order", "model"].map(str::to_owned)];
    rows.extend(decided.judges.iter().map(|judge| {
        [
            judge.seat.id.to_string(),
            judge.state.to_owned(),
            judge.approvals.to_string(),
            judge.rejections.to_string(),
            judge.flips.clone(),
            judge.lean.clone(),
            judge.orders.join("; then "),
            judge.seat.name.clone().unwrap_or_default(),
        ]
    }));
    page.table(&rows, &[0, 1, 7, 2, 3, 4, 5, 6]);
    page.out.push('\n');
    page.paragraph("agreement  ", &decided.agreement);
    page.paragraph("length     ", &decided.length);
    for (name, value) in &decided.rules {
        page.paragraph("", &format!("{name}: {value}"));
    }
    if !decided.dissent.is_empty() {
        page.heading("Dissent");
        decided.dissent.iter().for_each(|line| page.paragraph("- ", line));
    }
    issues(&decided.issues, "judges", page);
}

/// How the members of a panel voted on a task.
fn members(voted: &Voted, page: &mut Page) {
    page.heading("Votes");
    for member in &voted.members {
        let name = member.seat.name.as_deref().unwrap_or_default();
        let confidence = if member.confidence == "-" { String::new() } else { format!(" ({})", member.confidence) };
        let who = format!("{} {} {name}", member.sign, member.seat.id);
        page.paragraph("", &format!("{who}: {}{confidence}", member.words));
        page.paragraph("     ", &member.reason);
    }
    page.out.push('\n');
    for (name, value) in &voted.rules {
        page.paragraph("", &format!("{name}: {value}"));
    }
    if let Some(dissent) = &voted.dissent {
        page.paragraph("", &format!("Dissent: {dissent}"));
    }
    issues(&voted.issues, "members", page);
}

fn issues(issues: &[Issue], whose: &str, page: &mut Page) {
    if issues.is_empty() {
        return;
    }
    page.heading("Key issues");
    for issue in issues {
        let of = if issue.answers == "-" { String::new() } else { format!("answers {}; ", issue.answers) };
        page.paragraph(&format!("{:>3} x ", issue.count), &format!("{} ({of}{whose} {})", issue.text, issue.judges));
    }
}

/// A column for each answer where there is room, else a line for each judge.
fn matrix(decided: &Decided, page: &mut Page) {
    let matrix = &decided.matrix;
    let cell = |cell: &super::sheet::Cell| {
        let confidence = cell.confidence.map(|value| value.to_string()).unwrap_or_default();
        format!("{}{confidence}", cell.sign)
    };
    let name = |seat: &super::sheet::Seat| format!("{} {}", seat.id, seat.name.as_deref().unwrap_or_default());
    let names = matrix.rows.iter().map(|row| columns(&visible(&name(&row.judge)))).max().unwrap_or(0).min(24);
    if names + matrix.answers.len() * WIDEST_CELL <= page.width {
        let mut line = format!("{:names$}", "");
        matrix.answers.iter().for_each(|seat| line.push_str(&format!("{:>WIDEST_CELL$}", seat.id.to_string())));
        page.line(&line);
        for row in &matrix.rows {
            let who = cut(&visible(&name(&row.judge)), names);
            let mut line = format!("{who}{:pad$}", "", pad = names - columns(&who));
            row.cells.iter().for_each(|one| line.push_str(&format!("{:>WIDEST_CELL$}", cell(one))));
            page.line(&line);
        }
    } else {
        for row in &matrix.rows {
            let cells: Vec<String> = row.cells.iter().map(|one| format!("{}:{}", one.answer, cell(one))).collect();
            page.paragraph(&format!("{}  ", row.judge.id), &cells.join("  "));
        }
    }
    let legend: Vec<String> =
        super::sheet::CellKind::ALL.iter().map(|kind| format!("{} {}", kind.sign(), kind.describe())).collect();
    page.paragraph("", &format!("{}; the number is the confidence", legend.join(", ")));
}

fn answers(sheet: &Sheet, page: &mut Page) {
    page.heading("Answers");
    for answer in &sheet.answers {
        let name = answer.seat.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        let facts = [
            Some(answer.state.to_owned()),
            answer.rank.as_ref().map(|rank| format!("rank {rank}")),
            Some(answer.tally.clone()).filter(|tally| !tally.is_empty()),
            answer.size.clone(),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        page.paragraph("", &format!("{}{name}: {}", answer.seat.id, facts.join(", ")));
        if let Some(problem) = &answer.problem {
            page.paragraph("  ! ", problem);
        }
        if let Some(text) = &answer.text {
            excerpt(text, page, &format!("team show {} {}", sheet.session, answer.seat.id));
        }
        page.out.push('\n');
    }
    page.out.pop();
}

/// The first lines of a text, and where the rest is.
fn excerpt(text: &Quoted, page: &mut Page, whole: &str) {
    let mut shown = 0;
    let mut lines = text.text.lines();
    for line in lines.by_ref() {
        if shown == MOST_LINES {
            break;
        }
        shown += page.quoted(line, MOST_LINES - shown);
    }
    if lines.next().is_some() || text.cut.is_some() || shown == MOST_LINES {
        page.paragraph("  | ", &format!("[the whole: {whole}]"));
    }
}

fn timeline(sheet: &Sheet, page: &mut Page) {
    page.heading("Time line");
    let who = |row: &TimeRow| {
        let turn = row.turn.map(|turn| format!(", {turn}")).unwrap_or_default();
        format!("{} {}{turn}", row.side.as_str(), row.seat.id)
    };
    let mut widths = [0; 3];
    for row in &sheet.timeline.rows {
        for (width, text) in widths.iter_mut().zip([&who(row), row.state, &row.took]) {
            *width = (*width).max(columns(text));
        }
    }
    let [names, states, times] = widths;
    let names = names.min(page.width / 3);
    let room = page.width.saturating_sub(names + states + times + 8).min(80);
    for row in &sheet.timeline.rows {
        let mut bar = vec!['.'; room];
        for span in &row.spans {
            // The ends of a bar are at least one sign apart.
            let at = |mille: u64| (mille as usize * room / 1000).min(room.saturating_sub(1));
            let end = at(span.from_mille + span.length_mille).max(at(span.from_mille) + 1).min(room);
            let sign = if span.state == "COMPLETED" { '=' } else { 'x' };
            if let Some(part) = bar.get_mut(at(span.from_mille)..end) {
                part.fill(sign);
            }
        }
        let bar: String = bar.into_iter().collect();
        let name = cut(&who(row), names);
        page.line(&format!("{name:names$}  {:states$}  {:>times$}  {bar}", row.state, row.took));
    }
    page.paragraph("", &format!("{} in all; = is an attempt that completed, x one that did not", sheet.timeline.total));
    if !sheet.is_named() {
        page.paragraph("", "Tokens and cost are told with the verdict.");
        return;
    }
    let known =
        sheet.timeline.rows.iter().filter(|row| row.input_tokens != "unknown" || row.output_tokens != "unknown");
    for row in known {
        page.paragraph("  ", &format!("{}: {} tokens in, {} out", who(row), row.input_tokens, row.output_tokens));
    }
}

fn failures(sheet: &Sheet, page: &mut Page) {
    if sheet.failures.is_empty() {
        return;
    }
    page.heading("Failures");
    for failure in &sheet.failures {
        let name = failure.seat.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        let turn = failure.turn.map(|turn| format!(", {turn}")).unwrap_or_default();
        let reason = failure.reason.map(|reason| format!(", {reason}")).unwrap_or_default();
        let seat = format!("{} {}{turn}{name}", failure.side.as_str(), failure.seat.id);
        page.paragraph("", &format!("{seat}: {}{reason}", failure.state));
        for line in failure.detail.lines().take(MOST_LINES) {
            page.paragraph("  ", line);
        }
        if !failure.next_step.is_empty() {
            page.paragraph("  next: ", &failure.next_step);
        }
        for text in [&failure.log, &failure.partial].into_iter().flatten() {
            page.paragraph("  file: ", &text.file);
        }
    }
}

fn integrity(sheet: &Sheet, page: &mut Page) {
    page.heading("Integrity");
    let integrity = &sheet.integrity;
    match integrity.verified {
        true => page.paragraph("", "Verified: everything is as it was recorded."),
        false => page.paragraph("", "NOT verified. These are not as they were recorded, and are not shown:"),
    }
    integrity.mismatches.iter().for_each(|mismatch| page.paragraph("- ", mismatch));
    if let Some(head) = &integrity.head {
        page.paragraph("head     ", head);
    }
    page.paragraph("checked  ", &integrity.checked);
    integrity.notes.iter().for_each(|note| page.paragraph("note     ", note));
}

fn task(sheet: &Sheet, page: &mut Page) {
    let Some(task) = &sheet.task else { return };
    page.heading("Task");
    excerpt(task, page, &task.file);
}

/// What was printed so far.
struct Page {
    out: String,
    width: usize,
}

impl Page {
    /// One line, cut where there is no room.
    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        writeln!(self.out, "{}", cut(&visible(text), self.width).trim_end()).ok();
    }

    fn heading(&mut self, text: &str) {
        self.out.push('\n');
        self.line(text);
        self.line(&"-".repeat(columns(text)));
    }

    /// Words in lines, each below `start`.
    fn paragraph(&mut self, start: &str, text: &str) {
        let indent = columns(start);
        let mut begin = start.to_owned();
        for line in wrapped(&visible(&text.replace(['\n', '\t'], " ")), self.width.saturating_sub(indent)) {
            writeln!(self.out, "{}", format!("{begin}{line}").trim_end()).ok();
            begin = " ".repeat(indent);
        }
    }

    /// A line of somebody's text behind a bar, in at most `most` lines; how many it took.
    fn quoted(&mut self, line: &str, most: usize) -> usize {
        let lines = wrapped(&visible(&line.replace('\t', "    ")), self.width.saturating_sub(4));
        let shown = lines.len().min(most);
        for line in &lines[..shown] {
            writeln!(self.out, "{}", format!("  | {line}").trim_end()).ok();
        }
        shown
    }

    /// Rows under their head; on a narrow page only the columns that fit, by the order in `first`.
    fn table<const N: usize>(&mut self, rows: &[[String; N]], first: &[usize; N]) {
        let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| visible(cell))).collect();
        let mut widths = [0; N];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell)).min(self.width / 2);
            }
        }
        let mut room = self.width + 2;
        let mut taken = Vec::new();
        for column in first {
            if let Some(rest) = room.checked_sub(widths[*column] + 2) {
                room = rest;
                taken.push(*column);
            }
        }
        taken.sort_unstable();
        for row in &rows {
            let cells = taken.iter().map(|column| {
                let cell = cut(&row[*column], widths[*column]);
                let pad = widths[*column] - columns(&cell);
                format!("{cell}{:pad$}", "")
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(self.out, "{}", line.trim_end()).ok();
        }
    }
}

/// `text` with what acts or hides made visible.
fn visible(text: &str) -> String {
    let mut out = String::new();
    text.chars().for_each(|c| push_visible(&mut out, c));
    out
}

/// The words of `text` in lines of at most `width` columns; longer words are broken.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, word) in text.split(' ').enumerate() {
        let needed = columns(word);
        let last = lines.len() - 1;
        if at > 0 && used + 1 + needed <= width {
            lines[last].push(' ');
            used += 1;
        } else if at > 0 {
            lines.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let wide = columns(c.encode_utf8(&mut [0; 4]));
            if used + wide > width && used > 0 {
                lines.push(String::new());
                used = 0;
            }
            let last = lines.len() - 1;
            lines[last].push(c);
            used += wide;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_long_ones_broken() {
        assert_eq!(wrapped("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("", 3), [""]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
    }

    #[test]
    fn a_table_keeps_the_columns_that_fit() {
        let rows = [["a", "long words", "c"].map(str::to_owned)];
        let table = |width| {
            let mut page = Page { out: String::new(), width };
            page.table(&rows, &[0, 2, 1]);
            page.out
        };
        assert_eq!(table(40), "a  long words  c\n");
        assert_eq!(table(10), "a  c\n");
    }
}
