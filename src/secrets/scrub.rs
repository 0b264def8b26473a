//! Secrets and names out of everything that is written or shown.

use super::lines::ScrubLines;
use super::{Mask, Redactor};
use crate::ids::SlotId;

/// A [`Redactor`] and, until the verdict, a [`Mask`]. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Scrub {
    redactor: Redactor,
    mask: Option<Mask>,
}

impl Scrub {
    /// Redacts and masks: for everything that is written or shown before the verdict.
    #[must_use]
    pub const fn blind(redactor: Redactor, mask: Mask) -> Self {
        Self { redactor, mask: Some(mask) }
    }

    /// Redacts only: for what may name models.
    #[must_use]
    pub const fn open(redactor: Redactor) -> Self {
        Self { redactor, mask: None }
    }

    /// `text` about `slot`, or about none.
    #[must_use]
    pub fn text_for(&self, slot: Option<SlotId>, text: &str) -> String {
        // Secrets first: a name inside a secret must not break it into parts that no longer match.
        let text = self.redactor.text(text);
        match &self.mask {
            Some(mask) => mask.text_for(slot, &text),
            None => text,
        }
    }

    /// Notes what `text`, said by the program of `slot`, says about its model: it is masked from now on.
    pub fn learn(&self, slot: SlotId, text: &str) {
        if let Some(mask) = &self.mask {
            mask.learn(slot, text);
        }
    }

    /// Secrets out of `bytes`; names stay, and so does what is not UTF-8.
    #[must_use]
    pub fn secrets(&self, bytes: &[u8]) -> Vec<u8> {
        self.redactor.bytes(bytes)
    }

    /// The same for a log of `slot` that comes in pieces.
    #[must_use]
    pub fn lines_for(&self, slot: Option<SlotId>) -> ScrubLines {
        ScrubLines::new(self.redactor.stream(), self.mask.clone(), slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::SlotNames;

    fn scrub() -> (Scrub, SlotId) {
        let slot: SlotId = "01".parse().unwrap();
        let words = |word: &str| vec![word.to_owned()];
        let names = SlotNames { slot, model: words("ant"), program: words("claude"), key: words("ANTHROPIC_API_KEY") };
        (Scrub::blind(Redactor::new(["hunter2-claude"]), Mask::new(vec![names])), slot)
    }

    #[test]
    fn a_name_inside_a_secret_does_not_break_it_up() {
        let (scrub, slot) = scrub();
        let text = "claude: ANTHROPIC_API_KEY=sk-ant-0123456789abcdef hunter2-claude";
        assert_eq!(scrub.text_for(Some(slot), text), "[01.program]: [01.key]=[redacted] [redacted]");
    }

    #[test]
    fn an_open_scrub_redacts_and_names() {
        let open = Scrub::open(Redactor::new(["hunter2-claude"]));
        assert_eq!(open.text_for(None, "claude hunter2-claude"), "claude [redacted]");
    }

    #[test]
    fn lines_are_scrubbed_like_the_whole_text() {
        let (scrub, slot) = scrub();
        let text = "claude one\r\nkey hunter2-claude two\nlast Claude";
        let mut lines = scrub.lines_for(Some(slot));
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(3) {
            out.extend(lines.push(piece));
        }
        out.extend(lines.finish());
        assert_eq!(String::from_utf8(out).unwrap(), scrub.text_for(Some(slot), text));
    }
}
