//! A sheet as text. (soon)
use super::sheet::Sheet;

/// The report as text.
#[must_use]
pub fn sheet_text(sheet: &Sheet, _columns: usize) -> String {
    sheet.headline.line.clone()
}
