//! What a row of a class counts, beside its own weight.

use std::str::FromStr;

use crate::data::{Label, Labels};
use crate::error::{Error, Parameter, listed, quoted};

/// How much the rows of each class count. A row of a class of weight k is k rows.
///
/// # Examples
/// ```
/// use maxmargin::training::ClassWeights;
///
/// let weights: ClassWeights = "spam=2,ham=0.5".parse()?;
/// assert_ne!(weights, ClassWeights::Equal);
/// assert_eq!("balanced".parse::<ClassWeights>()?, ClassWeights::Balanced);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClassWeights {
    /// 1 for each.
    #[default]
    Equal,
    /// So that all classes weigh the same
    ///
    /// ```text
    /// n/(K n_k)                                                         (T.3)
    /// ```
    ///
    /// for the K classes with n_k of n rows, each counted by its own weight.
    Balanced,
    /// These, and 1 for the classes that are not named.
    Given(Vec<(Label, f64)>),
}

/// `balanced`, or `label=weight` with commas between. A label may have commas itself: what has no `=` belongs to the label after it.
impl FromStr for ClassWeights {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text == "balanced" {
            return Ok(ClassWeights::Balanced);
        }
        let one = |part: &str| {
            let (label, weight) = part.rsplit_once('=')?;
            Some((Label::new(label.trim()), weight.trim().parse().ok()?))
        };
        let refuse =
            || Error::parameter(Parameter::ClassWeights, quoted(text), "balanced, or label=weight with commas between");
        let (mut given, mut start) = (Vec::new(), 0);
        for end in text.match_indices(',').map(|(end, _)| end).chain([text.len()]) {
            let part = &text[start..end];
            if part.contains('=') {
                given.push(one(part).ok_or_else(refuse)?);
                start = end + 1;
            }
        }
        if start <= text.len() {
            return Err(refuse());
        }
        Ok(ClassWeights::Given(given))
    }
}

impl ClassWeights {
    /// The numbers are finite and above 0, and no label is named twice.
    pub(super) fn check(&self) -> Result<(), Error> {
        let ClassWeights::Given(given) = self else { return Ok(()) };
        if let Some((label, weight)) = given.iter().find(|(_, weight)| !(*weight > 0.0 && weight.is_finite())) {
            let name = format!("the weight of class {}", quoted(label.text()));
            return Err(Error::Combination {
                what: format!("{name} is {weight}, but it must be a finite number above 0"),
                help: "leave out the rows of a class that is not to count".into(),
            });
        }
        if let Some(place) = (1..given.len()).find(|&k| given[..k].iter().any(|(label, _)| *label == given[k].0)) {
            return Err(Error::Combination {
                what: format!("class {} has two weights", quoted(given[place].0.text())),
                help: "name each class once".into(),
            });
        }
        Ok(())
    }

    /// A weight for each class; `None` where all are 1.
    ///
    /// # Errors
    /// When a label is named that no class has.
    pub(crate) fn of_classes(&self, labels: &Labels, weights: Option<&[f64]>) -> Result<Option<Vec<f64>>, Error> {
        let classes = labels.classes();
        match self {
            ClassWeights::Equal => Ok(None),
            ClassWeights::Balanced => {
                let mut mass = vec![0.0; classes.len()];
                for (row, &code) in labels.codes().iter().enumerate() {
                    mass[code as usize] += weights.map_or(1.0, |weights| weights[row]);
                }
                let total: f64 = mass.iter().sum();
                // (T.3); a class without weight has no rows to give any to.
                let weight = |&mass: &f64| if mass > 0.0 { total / (classes.len() as f64 * mass) } else { 1.0 };
                Ok(Some(mass.iter().map(weight).collect()))
            }
            ClassWeights::Given(given) => {
                let mut found = vec![1.0; classes.len()];
                for (label, weight) in given {
                    let Some(code) = classes.iter().position(|class| class == label) else {
                        return Err(Error::Data {
                            what: format!("no class is called {}, which was given a weight", quoted(label.text())),
                            help: format!(
                                "the classes are {}",
                                listed(classes.iter().map(|label| quoted(label.text())), 8)
                            ),
                        });
                    };
                    found[code] = *weight;
                }
                Ok(Some(found))
            }
        }
    }

    /// In words that the same weights always have.
    pub(crate) fn text(&self) -> String {
        match self {
            ClassWeights::Equal => "equal".into(),
            ClassWeights::Balanced => "balanced".into(),
            ClassWeights::Given(given) => {
                let one = |(label, weight): &(Label, f64)| format!("{}={weight:?}", quoted(label.text()));
                given.iter().map(one).collect::<Vec<_>>().join(",")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Dataset, embedded};
    use crate::model::Multiclass;
    use crate::solver::SolverKind;
    use crate::training::TrainingParams;
    use crate::workers::Workers;

    fn labels(texts: &[&str]) -> Labels {
        Labels::new(texts.iter().map(|&text| Label::new(text)))
    }

    #[test]
    fn balanced_classes_weigh_the_same() {
        let labels = labels(&["a", "b", "b", "b"]);
        let found = ClassWeights::Balanced.of_classes(&labels, None).unwrap().unwrap();
        assert_eq!(found, [2.0, 2.0 / 3.0]);
        let weighted = ClassWeights::Balanced.of_classes(&labels, Some(&[3.0, 1.0, 1.0, 1.0])).unwrap().unwrap();
        assert_eq!(weighted, [1.0, 1.0]);
    }

    #[test]
    fn what_is_no_weight_of_a_class_is_refused() {
        for (text, message) in [
            ("a", "class-weights is \"a\", but it must be balanced, or label=weight with commas between"),
            ("a=x", "class-weights is \"a=x\", but it must be balanced, or label=weight with commas between"),
        ] {
            assert_eq!(text.parse::<ClassWeights>().unwrap_err().to_string(), message);
        }
        for (text, message) in [
            ("a=0", "the weight of class \"a\" is 0, but it must be a finite number above 0"),
            ("a=nan", "the weight of class \"a\" is NaN, but it must be a finite number above 0"),
            ("a=1,b=2,a=3", "class \"a\" has two weights"),
        ] {
            assert_eq!(text.parse::<ClassWeights>().unwrap().check().unwrap_err().to_string(), message);
        }
        let with_commas: ClassWeights = "New York, NY=2,q=1".parse().unwrap();
        assert_eq!(with_commas, ClassWeights::Given(vec![(Label::new("New York, NY"), 2.0), (Label::new("q"), 1.0)]));
        assert!(["a=1,", "a=1,b", ",a"].iter().all(|text| text.parse::<ClassWeights>().is_err()));
        let unknown: ClassWeights = "c=2".parse().unwrap();
        let error = unknown.of_classes(&labels(&["a", "b"]), None).unwrap_err();
        assert_eq!(error.to_string(), "no class is called \"c\", which was given a weight");
    }

    /// Iris with two more copies of each row of one class.
    fn with_copies(data: &Dataset, class: &str) -> Dataset {
        let copied = (0..data.rows()).filter(|&row| data.labels().unwrap().get(row).text() == class);
        let mut rows: Vec<usize> = (0..data.rows()).collect();
        copied.for_each(|row| rows.extend([row, row]));
        data.select_rows(&rows)
    }

    #[test]
    fn a_class_of_weight_three_is_three_copies_of_its_rows_and_verifies() {
        let data = embedded("iris").unwrap();
        let copies = with_copies(&data, "versicolor");
        let weights: ClassWeights = "versicolor=3".parse().unwrap();
        for (solver, multiclass) in [
            (None, None),
            (Some(SolverKind::PrimalNewton), Some(Multiclass::OneVsRest)),
            (Some(SolverKind::DualAscent), Some(Multiclass::OneVsRest)),
            (Some(SolverKind::Logistic), Some(Multiclass::Joint)),
        ] {
            let mut params = TrainingParams { solver, multiclass, ..TrainingParams::default() };
            params.settings.tolerance = Some(1e-6);
            let fit = |data: &Dataset, class_weights: ClassWeights| {
                let params = TrainingParams { class_weights, ..params.clone() };
                params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
            };
            let weighted = fit(&data, weights.clone());
            let copied = fit(&copies, ClassWeights::Equal);
            for (a, b) in weighted.machines().iter().zip(copied.machines()) {
                let (a, b) = (a.weights.as_ref().unwrap(), b.weights.as_ref().unwrap());
                let size = a.iter().fold(1.0, |size: f64, w| size.max(w.abs()));
                assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-3 * size), "{solver:?}: {a:?} {b:?}");
            }
            assert!(weighted.verify(&data, &Workers::none()).unwrap().holds(), "{solver:?}");
        }
    }
}
