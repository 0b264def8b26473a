//! Which session a path lies in.

use std::path::Path;

use super::layout::Layout;

/// The outermost session that `path`, which need not exist and has no links, lies in: a folder with a `session-meta.json`,
/// or with the two files that tell one that has lost it. A `manifest.json` alone is somebody else's.
#[must_use]
pub fn session_around(path: &Path) -> Option<Layout> {
    let is_session = |layout: &Layout| {
        let has = |file: &Path| file.symlink_metadata().is_ok();
        has(&layout.meta()) || has(&layout.manifest()) && has(&layout.events())
    };
    path.ancestors().skip(1).map(Layout::new).filter(is_session).last()
}
