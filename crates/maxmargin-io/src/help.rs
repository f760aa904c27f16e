//! The way out of an error: words, and settings that every front end writes in its own way.

/// A setting that a way out may name. The command line writes `--missing drop`, Python `missing='drop'`, the library `missing drop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// The column of labels.
    Label,
    /// That there are no labels.
    Unlabelled,
    /// Whether the first line names the columns: `true` or `false`.
    Header,
    /// That columns are counted from 0.
    ZeroBased,
    /// The columns to learn from.
    Columns,
    /// The columns to leave out.
    Exclude,
    /// The columns of which one is made for each value.
    Categorical,
    /// What becomes of missing values.
    Missing,
    /// The format that is read.
    Format,
    /// The format that is written.
    To,
    /// How columns are scaled in training.
    Scale,
    /// What is learnt.
    Task,
    /// How several classes are told apart.
    Multiclass,
    /// Where the bias is.
    Bias,
}

impl Setting {
    /// The library's own name.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Label => "label",
            Setting::Unlabelled => "unlabelled",
            Setting::Header => "header",
            Setting::ZeroBased => "zero-based",
            Setting::Columns => "columns",
            Setting::Exclude => "exclude",
            Setting::Categorical => "categorical",
            Setting::Missing => "missing",
            Setting::Format => "format",
            Setting::To => "to",
            Setting::Scale => "scale",
            Setting::Task => "task",
            Setting::Multiclass => "multiclass",
            Setting::Bias => "bias",
        }
    }
}

/// The way out of an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Help(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Words(String),
    /// A setting, and the value to give it; empty where the setting itself is meant.
    Setting(Setting, String),
}

impl Help {
    /// Goes on with a setting.
    pub(crate) fn name(self, setting: Setting) -> Self {
        self.set(setting, "")
    }

    /// Goes on with a setting and the value to give it.
    pub(crate) fn set(mut self, setting: Setting, value: impl Into<String>) -> Self {
        self.0.push(Part::Setting(setting, value.into()));
        self
    }

    /// Goes on with words.
    pub(crate) fn and(mut self, words: impl Into<String>) -> Self {
        self.0.push(Part::Words(words.into()));
        self
    }

    /// Whether a setting is part of the way out, with this value where one is given.
    pub fn names(&self, setting: Setting, value: Option<&str>) -> bool {
        let is_it = |part: &Part| match part {
            Part::Setting(named, own) => *named == setting && value.is_none_or(|value| value == own),
            Part::Words(_) => false,
        };
        self.0.iter().any(is_it)
    }

    /// The sentence, with settings and their values as somebody writes them. The value is empty where the setting itself is meant.
    pub fn told_by(&self, tell: impl Fn(Setting, &str) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Setting(setting, value) => tell(*setting, value),
        };
        self.0.iter().map(part).collect()
    }
}

/// The sentence in the library's own words.
impl std::fmt::Display for Help {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let own = |setting: Setting, value: &str| match value {
            "" => setting.name().to_string(),
            value => format!("{} {value}", setting.name()),
        };
        formatter.write_str(&self.told_by(own))
    }
}

impl From<&str> for Help {
    fn from(words: &str) -> Self {
        Help(vec![Part::Words(words.into())])
    }
}

impl From<String> for Help {
    fn from(words: String) -> Self {
        Help(vec![Part::Words(words)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_told_in_the_words_of_whoever_asks() {
        let help =
            Help::from("fill them in: ").set(Setting::Missing, "mean").and(", or leave out ").name(Setting::Label);
        let flag = |setting: Setting, value: &str| format!("--{} {value}", setting.name());
        assert_eq!(help.told_by(flag), "fill them in: --missing mean, or leave out --label ");
        assert_eq!(help.to_string(), "fill them in: missing mean, or leave out label");
        assert!(help.names(Setting::Label, None) && !help.names(Setting::Format, None));
        assert!(help.names(Setting::Missing, Some("mean")) && !help.names(Setting::Missing, Some("drop")));
    }
}
