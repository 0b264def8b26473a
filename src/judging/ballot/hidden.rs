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
    /// Where the last end of each kind begins.
    last_ends: [Option<usize>; PARTS.len()],
}

impl Hidden {
    /// Before the first line of `text`.
    pub(super) fn of(text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        Self { until: None, last_ends: PARTS.map(|(_, close)| text.rfind(&close.to_ascii_lowercase())) }
    }

    /// Whether the next line is in such a part.
    pub(super) const fn is_open(self) -> bool {
        self.until.is_some()
    }

    /// Goes on over `line`, which is in no fenced block and ends at `end` of the text. Whether the line belongs to such a
    /// part.
    ///
    /// One that begins in the middle of a line counts when it ends somewhere: a vote that its author may have meant to
    /// hide or to quote is none.
    pub(super) fn read(&mut self, line: &str, end: usize) -> bool {
        if let Some(close) = self.until {
            self.until = behind(line, close).map_or(Some(close), |rest| self.left_open(rest, end));
            return true;
        }
        let start = line.trim_start();
        let part = PARTS.into_iter().find_map(|part| Some((part.1, opened(start, part.0)?)));
        self.until = match part {
            Some((close, inside)) => behind(inside, close).map_or(Some(close), |rest| self.left_open(rest, end)),
            None => self.left_open(line, end),
        };
        part.is_some()
    }

    /// The end of what `line` leaves open and a later line ends. Words between as many backticks as open them are code.
    fn left_open(&self, line: &str, end: usize) -> Option<&'static str> {
        let mut rest = line;
        while let Some(at) = rest.find(['`', '<']) {
            rest = &rest[at..];
            if rest.starts_with('`') {
                let after = rest.trim_start_matches('`');
                let ticks = &rest[..rest.len() - after.len()];
                rest = after.find(ticks).map_or(after, |close| &after[close + ticks.len()..]);
                continue;
            }
            let parts = PARTS.into_iter().zip(self.last_ends);
            let part = parts.filter_map(|((begin, close), last)| Some((opened(rest, begin)?, close, last))).next();
            rest = match part {
                None => &rest[1..],
                Some((inside, close, last)) => match behind(inside, close) {
                    Some(behind) => behind,
                    None if last.is_some_and(|at| at >= end) => return Some(close),
                    None => inside,
                },
            };
        }
        None
    }
}

/// What stands behind `begin`, which `text` begins with whatever its case; a name of HTML as a whole word.
fn opened<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    text.get(..begin.len()).filter(|head| head.eq_ignore_ascii_case(begin))?;
    let inside = &text[begin.len()..];
    let next = inside.chars().next();
    let is_whole = !begin.ends_with(|c: char| c.is_ascii_alphabetic())
        || next.is_none_or(|next| next == '>' || next.is_whitespace());
    is_whole.then_some(inside)
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
            ("I quote: <pre>\na\n</PRE>\nb\n", "I quote: <pre>|b"),
            ("I quote: <pre>\na\n", "I quote: <pre>|a"),
            ("`<pre>` is code\na\n</pre>\n", "`<pre>` is code|a|</pre>"),
            ("a <pre>b</pre> <script>\nc\n</script>\nd\n", "a <pre>b</pre> <script>|d"),
            ("a <pre> <!--\nb\n-->\nc\n", "a <pre> <!--|c"),
            ("é<!-- é\né -->\né\n", "é<!-- é|é"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
