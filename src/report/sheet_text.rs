//! A sheet as text: what `team report --text` prints, from 40 to 200 columns wide.

use super::format::{columns, cut};
use super::paper::{Paper, visible};
use super::review_text::review;
use super::sheet::{Decided, Issue, Quoted, Sheet, TimeRow, Voted};

/// How many lines of an answer or a log are shown; `team show` prints the whole.
const MOST_LINES: usize = 12;

/// Beyond these the matrix is a line for each judge.
const WIDEST_CELL: usize = 5;

/// The report as text for a terminal of this many columns: no colour, no control characters, no line wider than that.
#[must_use]
pub fn sheet_text(sheet: &Sheet, width: usize) -> String {
    let mut page = Paper::new(width);
    verdict(sheet, &mut page);
    if let Some(decided) = &sheet.decided {
        votes(decided, &mut page);
    }
    if let Some(voted) = &sheet.voted {
        members(voted, &mut page);
    }
    match &sheet.reviewed {
        Some(reviewed) => review(reviewed, &sheet.session, &mut page),
        None => answers(sheet, &mut page),
    }
    timeline(sheet, &mut page);
    failures(sheet, &mut page);
    integrity(sheet, &mut page);
    task(sheet, &mut page);
    page.finish()
}

fn verdict(sheet: &Sheet, page: &mut Paper) {
    for note in &sheet.headline.first {
        page.paragraph("! ", note);
    }
    page.paragraph("", &sheet.headline.line);
    page.blank();
    if let Some(banner) = &sheet.headline.banner {
        page.paragraph("! ", &format!("{banner}."));
    }
    if !sheet.integrity.verified {
        page.paragraph("! ", "The folder is not as it was recorded; see Integrity below.");
    }
    page.paragraph("", &sheet.headline.sentence);
    page.blank();
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

fn votes(decided: &Decided, page: &mut Paper) {
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
    page.blank();
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
fn members(voted: &Voted, page: &mut Paper) {
    page.heading("Votes");
    for member in &voted.members {
        let name = member.seat.name.as_deref().unwrap_or_default();
        let confidence = if member.confidence == "-" { String::new() } else { format!(" ({})", member.confidence) };
        let who = format!("{} {} {name}", member.sign, member.seat.id);
        page.paragraph("", &format!("{who}: {}{confidence}", member.words));
        page.paragraph("     ", &member.reason);
    }
    page.blank();
    for (name, value) in &voted.rules {
        page.paragraph("", &format!("{name}: {value}"));
    }
    if let Some(dissent) = &voted.dissent {
        page.paragraph("", &format!("Dissent: {dissent}"));
    }
    issues(&voted.issues, "members", page);
}

fn issues(issues: &[Issue], whose: &str, page: &mut Paper) {
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
fn matrix(decided: &Decided, page: &mut Paper) {
    let matrix = &decided.matrix;
    let cell = |cell: &super::sheet::Cell| {
        let confidence = cell.confidence.map(|value| value.to_string()).unwrap_or_default();
        format!("{}{confidence}", cell.sign)
    };
    let name = |seat: &super::sheet::Seat| format!("{} {}", seat.id, seat.name.as_deref().unwrap_or_default());
    let names = matrix.rows.iter().map(|row| columns(&visible(&name(&row.judge)))).max().unwrap_or(0).min(24);
    if names + matrix.answers.len() * WIDEST_CELL <= page.width() {
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

fn answers(sheet: &Sheet, page: &mut Paper) {
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
        page.blank();
    }
}

/// The first lines of a text, and where the rest is.
fn excerpt(text: &Quoted, page: &mut Paper, whole: &str) {
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

fn timeline(sheet: &Sheet, page: &mut Paper) {
    page.heading("Time line");
    let who = |row: &TimeRow| {
        let turn = row.turn.as_ref().map(|turn| format!(", {turn}")).unwrap_or_default();
        format!("{} {}{turn}", row.side.as_str(), row.seat.id)
    };
    let mut widths = [0; 3];
    for row in &sheet.timeline.rows {
        for (width, text) in widths.iter_mut().zip([&who(row), row.state, &row.took]) {
            *width = (*width).max(columns(text));
        }
    }
    let [names, states, times] = widths;
    let names = names.min(page.width() / 3);
    let room = page.width().saturating_sub(names + states + times + 8).min(80);
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

fn failures(sheet: &Sheet, page: &mut Paper) {
    if sheet.failures.is_empty() {
        return;
    }
    page.heading("Failures");
    for failure in &sheet.failures {
        let name = failure.seat.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        let turn = failure.turn.as_ref().map(|turn| format!(", {turn}")).unwrap_or_default();
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

fn integrity(sheet: &Sheet, page: &mut Paper) {
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
    if let Some(isolation) = &sheet.isolation {
        page.paragraph("apart by ", isolation);
    }
    page.paragraph("checked  ", &integrity.checked);
    integrity.notes.iter().for_each(|note| page.paragraph("note     ", note));
}

fn task(sheet: &Sheet, page: &mut Paper) {
    let Some(task) = &sheet.task else { return };
    page.heading("Task");
    excerpt(task, page, &task.file);
}
