//! The parameters of a stream, and the only place that checks their ranges.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::StreamingSgd;
use crate::data::{Label, Labels};
use crate::error::{Error, Parameter};
use crate::problem::{Bias, Loss};

/// The parameters of a stream, not yet checked.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct StreamParams {
    /// The labels, in any order; empty means those of the first block. More than two are told apart one against the rest.
    pub classes: Vec<Label>,
    /// The loss.
    pub loss: Loss,
    /// How b is treated.
    pub bias: Bias,
    /// λ of (ST.1).
    pub lambda: f64,
    /// Rows of a step.
    pub batch: usize,
    /// Steps before the average begins; `None` makes the last w the model.
    pub average_from: Option<u64>,
    /// With `Some(k)` every k-th row is held out: predicted and never learnt.
    pub hold_out: Option<u64>,
}

impl Default for StreamParams {
    fn default() -> Self {
        StreamParams {
            classes: Vec::new(),
            loss: Loss::Hinge,
            bias: Bias::Explicit,
            lambda: 1e-6,
            batch: 1,
            average_from: Some(0),
            hold_out: None,
        }
    }
}

impl StreamParams {
    /// The only way to a [`StreamingSgd`], and so the only place where ranges are tested.
    ///
    /// # Errors
    /// When a parameter is out of range, or the labels are fewer than two.
    pub fn check(mut self) -> Result<StreamingSgd, Error> {
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            return Err(Error::parameter(Parameter::Lambda, self.lambda, "a finite number above 0"));
        }
        if self.batch == 0 {
            return Err(Error::parameter(Parameter::Batch, 0, "1 or more"));
        }
        if let Some(every) = self.hold_out.filter(|&every| every < 2) {
            return Err(Error::parameter("validate", every, "2 or more: every so-many-th row is held out"));
        }
        self.classes = Labels::new(self.classes).classes().to_vec();
        if self.classes.len() == 1 {
            return Err(Error::Data {
                what: "one label is declared, and there is nothing to tell it from".into(),
                help: "declare two labels or more, or none".into(),
            });
        }
        Ok(StreamingSgd::new(self))
    }
}
