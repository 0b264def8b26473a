//! Lines that a reader of the reply does not see as part of it: comments, and HTML whose content is shown as it stands.

/// What opens such a part at the start of a line, and what ends it; CommonMark 0.31 section 4.6, kinds 1, 2 and 5.
const PARTS: [(&str, &str); 6] = [
    (COMMENT.0, COMMENT.1),
    ("<![CDATA[", "]]>"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];
const COMMENT: (&str, &str) = ("<!--", "-->");

/// Whether a text that is read line by line is in such a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hidden {
    until: Option<&'static str>,
    /// Where the last end of a comment begins.
    last_end: Option<usize>,
}

impl Hidden {
    /// Before the first line of `text`.
    pub(super) fn of(text: &str) -> Self {
        Self { until: None, last_end: text.rfind(COMMENT.1) }
    }

    /// Whether the next line is in such a part.
    pub(super) const fn is_open(self) -> bool {
        self.until.is_some()
    }

    /// Goes on over `line`, which is in no fenced block and ends at `end` of the text. Whether the line belongs to such a
    /// part.
    ///
    /// A comment that begins in the middle of a line counts when it ends somewhere: a vote that its author may have meant
    /// to hide is none.
    pub(super) fn read(&mut self, line: &str, end: usize) -> bool {
        let is_ended = self.last_end.is_some_and(|at| at >= end);
        let within = |line: &str| (leaves_open(line) && is_ended).then_some(COMMENT.1);
        if let Some(close) = self.until {
            self.until = behind(line, close).map_or(Some(close), within);
            return true;
        }
        let start = line.trim_start();
        let part = PARTS.into_iter().find_map(|(begin, close)| {
            let head = start.get(..begin.len()).filter(|head| head.eq_ignore_ascii_case(begin))?;
            let inside = &start[head.len()..];
            let next = inside.chars().next();
            let is_whole = !begin.ends_with(|c: char| c.is_ascii_alphabetic())
                || next.is_none_or(|next| next == '>' || next.is_whitespace());
            is_whole.then_some((close, inside))
        });
        self.until = match part {
            Some((close, inside)) => behind(inside, close).map_or(Some(close), within),
            None => within(line),
        };
        part.is_some()
    }
}

/// Whether `line` leaves a comment open. Words between as many backticks as open them are code.
fn leaves_open(line: &str) -> bool {
    let (begin, end) = COMMENT;
    let mut from = 0;
    while let Some(at) = line[from..].find(begin).map(|at| from + at) {
        // What stands between here and the comment: is it code that reaches over it?
        while let Some(code) = line[from..at].find('`').map(|code| from + code) {
            let after = line[code..].trim_start_matches('`');
            let behind_ticks = line.len() - after.len();
            let ticks = &line[code..behind_ticks];
            from = after.find(ticks).map_or(behind_ticks, |close| behind_ticks + close + ticks.len());
            if from > at {
                break;
            }
        }
        if from > at {
            continue;
        }
        let inside = at + begin.len();
        match line[inside..].find(end) {
            Some(close) => from = inside + close + end.len(),
            None => return true,
        }
    }
    false
}

/// The part of `line` behind the first `end`, whatever its case.
fn behind<'a>(line: &'a str, end: &str) -> Option<&'a str> {
    let at = line.as_bytes().windows(end.len()).position(|window| window.eq_ignore_ascii_case(end.as_bytes()))?;
    line.get(at + end.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are shown.
    fn shown(text: &str) -> String {
        let mut hidden = Hidden::of(text);
        let mut end = 0;
        let mut lines = Vec::new();
        for line in text.lines() {
            end += line.len() + 1;
            if !hidden.read(line, end) {
                lines.push(line);
            }
        }
        lines.join("|")
    }

    #[test]
    fn comments_and_literal_html_are_hidden_to_their_end() {
        for (text, expected) in [
            ("a\n<!-- b\nc\n--> d\ne\n", "a|e"),
            ("<!-- a --> b\nc\n", "c"),
            ("<!-- a --> <!--\nb\n-->\nc\n", "c"),
            ("a <!--\nb\n--> c\nd\n", "a <!--|d"),
            ("a <!-- b --> c\nd\n", "a <!-- b --> c|d"),
            ("a <!-- never ended\nb\n", "a <!-- never ended|b"),
            ("<!-- never ended\nb\n", ""),
            ("`<!--` is code\nb\n-->\n", "`<!--` is code|b|-->"),
            ("`` ` <!-- ``\nb\n-->\n", "`` ` <!-- ``|b|-->"),
            ("`a <!--\nb\n-->\nc\n", "`a <!--|c"),
            ("<PRE>\na\n</pre>\nb\n", "b"),
            ("<prefix>\na\n", "<prefix>|a"),
            ("<pre\nclass=x>\na</Pre>\nb\n", "b"),
            ("  <![CDATA[\na\n]]>\nb\n", "b"),
            ("é<!-- é\né -->\né\n", "é<!-- é|é"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
