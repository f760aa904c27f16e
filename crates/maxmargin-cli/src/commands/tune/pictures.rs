//! The pictures of a search.

use std::path::Path;

use maxmargin::view::TunedView;
use maxmargin_plot::{SearchKind, plot_search};

use crate::failure::Failure;
use crate::output::{self, Words};
use crate::picture::{Sketch, make_folder};

/// Where the pictures go, found to be writable before the search begins.
pub(super) struct Pictures(Vec<(SearchKind, Sketch)>);

impl Pictures {
    /// # Errors
    /// When the folder cannot be made, or a file in it cannot be written.
    pub(super) fn new(folder: &Path, read: &[&Path]) -> Result<Self, Failure> {
        make_folder(folder)?;
        let sketch =
            |kind: SearchKind| Ok((kind, Sketch::new(&folder.join(format!("{}.svg", kind.name())), read, None)?));
        SearchKind::ALL.into_iter().map(sketch).collect::<Result<_, Failure>>().map(Pictures)
    }

    /// Draws the pictures whose numbers the search has.
    ///
    /// # Errors
    /// When a picture cannot be drawn or written.
    pub(super) fn draw(&self, found: &TunedView<'_>, words: Words) -> Result<(), Failure> {
        for (kind, sketch) in self.0.iter().filter(|(kind, _)| kind.suits(found)) {
            sketch.save(&plot_search(*kind, found, &sketch.options)?)?;
            if !words.quiet {
                output::say(&format!("wrote {}", sketch.target.shown()));
            }
        }
        Ok(())
    }
}
