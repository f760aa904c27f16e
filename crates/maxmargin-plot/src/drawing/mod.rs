//! Drawing without knowing what is drawn: shapes, colours, text, axes, and the two formats.

pub(crate) mod axis;
pub(crate) mod legend;
pub(crate) mod marker;
pub(crate) mod page;
pub(crate) mod panel;
pub(crate) mod png;
pub(crate) mod scene;
pub(crate) mod svg;
pub(crate) mod text;
pub(crate) mod theme;
