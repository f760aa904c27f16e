//! Colours: two themes, a palette for classes and a scale for amounts.

/// Red, green and blue.
pub(crate) type Colour = (u8, u8, u8);

/// Whether a picture stands on light or on dark paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark lines on white.
    #[default]
    Light,
    /// Light lines on a dark grey.
    Dark,
}

impl Theme {
    /// Both themes.
    pub const ALL: [Theme; 2] = [Theme::Light, Theme::Dark];

    /// The theme's name: `light` or `dark`.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The theme of a name; `None` for any other word.
    ///
    /// # Examples
    /// ```
    /// use maxmargin_plot::Theme;
    ///
    /// assert_eq!(Theme::named("dark"), Some(Theme::Dark));
    /// assert_eq!(Theme::named("sepia"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Theme::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// The sheet itself.
    pub(crate) fn paper(self) -> Colour {
        self.either((255, 255, 255), (20, 24, 29))
    }

    /// Lines that matter, and most text.
    pub(crate) fn ink(self) -> Colour {
        self.either((31, 35, 40), (230, 233, 237))
    }

    /// Text that stays in the background. It has 4.5 times the contrast that readers need at least.
    pub(crate) fn muted(self) -> Colour {
        self.either((87, 96, 106), (158, 168, 179))
    }

    /// Axes and frames.
    pub(crate) fn rule(self) -> Colour {
        self.either((140, 149, 159), (107, 118, 131))
    }

    /// Lines of a grid.
    pub(crate) fn faint(self) -> Colour {
        self.either((228, 231, 235), (42, 48, 56))
    }

    /// The colour of a class; muted for rows without one.
    pub(crate) fn class(self, class: Option<u32>) -> Colour {
        let palette = self.either(&LIGHT, &DARK);
        class.map_or(self.muted(), |class| palette[class as usize % palette.len()])
    }

    /// The colour of a class's region, so pale that points and lines stand out on it.
    pub(crate) fn tint(self, class: u32) -> Colour {
        mix(self.paper(), self.class(Some(class)), self.either(0.17, 0.22))
    }

    /// The colour of an amount from 0 to 1: cividis, which looks alike to all kinds of colour vision and changes evenly in lightness. What is
    /// much stands out from the paper: it is dark on light paper, and light on dark paper.
    ///
    /// # References
    /// J. R. Nuñez, C. R. Anderton, R. S. Renslow, Optimizing colormaps with consideration for color vision deficiency, PLOS ONE 13, 2018.
    pub(crate) fn amount(self, share: f64) -> Colour {
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        let place = self.either(1.0 - share, share) * (CIVIDIS.len() - 1) as f64;
        let below = (place as usize).min(CIVIDIS.len() - 2);
        mix(CIVIDIS[below], CIVIDIS[below + 1], place - below as f64)
    }

    /// A colour for words: nearer to the ink, because thin lines need more contrast than areas.
    pub(crate) fn word(self, colour: Colour) -> Colour {
        mix(colour, self.ink(), 0.35)
    }

    fn either<T>(self, light: T, dark: T) -> T {
        match self {
            Theme::Light => light,
            Theme::Dark => dark,
        }
    }
}

/// The palette of Okabe and Ito, which people see apart whatever their colour vision; its black is grey here.
///
/// # References
/// M. Okabe, K. Ito, Color universal design, 2008.
const LIGHT: [Colour; 8] = [
    (213, 94, 0),
    (0, 114, 178),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (150, 140, 20), // their yellow, darker, to be seen on white
    (110, 110, 110),
];

/// The palette on dark paper: the blues change places, and dark colours are lighter.
const DARK: [Colour; 8] = [
    (232, 125, 48),
    (86, 180, 233),
    (32, 184, 141),
    (220, 148, 188),
    (240, 180, 60),
    (72, 142, 214),
    (226, 214, 84),
    (170, 170, 170),
];

/// Ten colours of cividis at even steps.
const CIVIDIS: [Colour; 10] = [
    (0, 34, 78),
    (18, 53, 112),
    (59, 73, 108),
    (87, 93, 109),
    (112, 113, 115),
    (138, 134, 120),
    (165, 156, 116),
    (195, 179, 105),
    (225, 204, 85),
    (254, 232, 56),
];

/// A colour between two: `share` 0 is the first, 1 the second.
pub(crate) fn mix(first: Colour, second: Colour, share: f64) -> Colour {
    let part = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    (part(first.0, second.0), part(first.1, second.1), part(first.2, second.2))
}

/// The contrast of two colours, from 1 to 21; text needs 4.5 to be read.
///
/// # References
/// W3C, Web Content Accessibility Guidelines 2.2, 2023.
pub(crate) fn contrast(first: Colour, second: Colour) -> f64 {
    let luminance = |colour: Colour| {
        let part = |value: u8| {
            let share = f64::from(value) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(colour.0) + 0.7152 * part(colour.1) + 0.0722 * part(colour.2)
    };
    let (a, b) = (luminance(first) + 0.05, luminance(second) + 0.05);
    if a > b { a / b } else { b / a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_markers_stand_out_on_their_paper() {
        for theme in Theme::ALL {
            assert!(contrast(theme.ink(), theme.paper()) > 12.0);
            assert!(contrast(theme.muted(), theme.paper()) > 4.5);
            for class in 0..8 {
                assert!(contrast(theme.class(Some(class)), theme.paper()) > 2.0, "{theme:?} {class}");
                assert!(contrast(theme.word(theme.class(Some(class))), theme.paper()) > 3.0, "{theme:?} {class}");
                assert!(contrast(theme.ink(), theme.tint(class)) > 7.0, "{theme:?} {class}");
            }
        }
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
    }

    #[test]
    fn amounts_stand_out_more_and_more_and_none_is_out_of_range() {
        for theme in Theme::ALL {
            let apart: Vec<f64> = (0..=20)
                .map(|k| contrast(theme.amount(f64::from(k) / 20.0), theme.either((255, 255, 255), (0, 0, 0))))
                .collect();
            assert!(apart.is_sorted_by(|a, b| a < b), "{apart:?}");
            assert_eq!(theme.amount(f64::NAN), theme.amount(-3.0));
        }
        assert_eq!((Theme::Light.amount(7.0), Theme::Dark.amount(7.0)), (CIVIDIS[0], CIVIDIS[9]));
    }
}
