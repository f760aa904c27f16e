//! The files of the page, as they are in the folder `page/`.

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its path on the server.
    pub path: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

macro_rules! asset {
    ($path:literal, $file:literal, $media_type:expr) => {
        Asset { path: $path, media_type: $media_type, bytes: include_bytes!(concat!("../page/", $file)) }
    };
}

const HTML: &str = "text/html; charset=utf-8";

const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: [Asset; 22] = [
    asset!("/", "index.html", HTML),
    asset!("/icon.svg", "icon.svg", "image/svg+xml"),
    asset!("/style.css", "style.css", "text/css; charset=utf-8"),
    asset!("/font.ttf", "font.ttf", "font/ttf"),
    asset!("/alpha.js", "alpha.js", SCRIPT),
    asset!("/controls.js", "controls.js", SCRIPT),
    asset!("/dialogs.js", "dialogs.js", SCRIPT),
    asset!("/dom.js", "dom.js", SCRIPT),
    asset!("/engine.js", "engine.js", SCRIPT),
    asset!("/exports.js", "exports.js", SCRIPT),
    asset!("/gestures.js", "gestures.js", SCRIPT),
    asset!("/lift.js", "lift.js", SCRIPT),
    asset!("/link.js", "link.js", SCRIPT),
    asset!("/main.js", "main.js", SCRIPT),
    asset!("/numbers.js", "numbers.js", SCRIPT),
    asset!("/palette.js", "palette.js", SCRIPT),
    asset!("/plane.js", "plane.js", SCRIPT),
    asset!("/sheets.js", "sheets.js", SCRIPT),
    asset!("/state.js", "state.js", SCRIPT),
    asset!("/steps.js", "steps.js", SCRIPT),
    asset!("/timeline.js", "timeline.js", SCRIPT),
    asset!("/why.js", "why.js", SCRIPT),
];

/// All files of the page.
pub fn assets() -> &'static [Asset] {
    &ASSETS
}
