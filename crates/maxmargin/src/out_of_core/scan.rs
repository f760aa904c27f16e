//! The pass before the training: counts, weights and the fingerprint of all rows.

use std::ops::ControlFlow;

use super::Ascent;
use super::source::{BlockError, BlockSource};
use super::visit::Coding;
use crate::control::Stop;
use crate::data::Labels;
use crate::data::fingerprint::Fingerprint;
use crate::error::{Error, quoted};
use crate::recipe::Pairing;
use crate::training::ClassWeights;

/// Sums over all rows.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    /// For each class its rows, its rows with a weight above 0, and the sum of their weights.
    pub(super) class_rows: Vec<usize>,
    weighted_rows: Vec<usize>,
    class_weight: Vec<f64>,
    /// The mean of ‖x‖².
    pub(super) mean_square: f64,
    pub(super) fingerprint: String,
}

impl<S: BlockSource> Ascent<'_, '_, S> {
    /// Reads all rows once.
    pub(super) fn scan(&mut self) -> Result<ControlFlow<Stop, Scan>, BlockError<S::Error>> {
        let visits = &self.visits;
        let (source, classes) = (visits.source, visits.coding.classes.len());
        let rows = visits.starts.last().copied().unwrap_or(0);
        let mut scan = Scan {
            class_rows: vec![0; classes],
            weighted_rows: vec![0; classes],
            class_weight: vec![0.0; classes],
            mean_square: 0.0,
            fingerprint: String::new(),
        };
        let mut print = Fingerprint::new(rows as u64, source.columns(), source.has_weights());
        let mut squares = 0.0;
        let order: Vec<usize> = (0..source.blocks()).collect();
        self.passes += 1;
        let (progress, control) = (self.progress(), &mut *self.control);
        let flow = visits.each(&order, |block| {
            control.poll(progress)?;
            print.add(&block.data, visits.workers);
            for (row, &code) in block.codes.iter().enumerate() {
                let (class, weight) = (code as usize, block.weight(row));
                scan.class_rows[class] += 1;
                scan.weighted_rows[class] += usize::from(weight > 0.0);
                scan.class_weight[class] += weight;
            }
            squares += block.squares.iter().sum::<f64>();
            ControlFlow::Continue(())
        })?;
        if let ControlFlow::Break(stop) = flow {
            return Ok(ControlFlow::Break(stop));
        }
        scan.mean_square = squares / rows.max(1) as f64;
        scan.fingerprint = print.finish();
        Ok(ControlFlow::Continue(scan))
    }
}

impl Scan {
    /// The weight of each class; `None` where all are 1.
    pub(super) fn class_weights(&self, coding: &Coding, asked: &ClassWeights) -> Result<Option<Vec<f64>>, Error> {
        // One row for each class, with the weight of all its rows.
        let labels = Labels::from_codes(&coding.classes, &(0..coding.classes.len() as u32).collect::<Vec<_>>());
        let labels = labels.unwrap_or_else(|| Labels::new([]));
        // "rest" may not be where sorting puts it.
        let place = |label: &crate::data::Label| coding.classes.iter().position(|class| class == label).unwrap_or(0);
        let places: Vec<usize> = labels.classes().iter().map(place).collect();
        let mass: Vec<f64> = labels.codes().iter().map(|&code| self.class_weight[places[code as usize]]).collect();
        let found = asked.of_classes(&labels, Some(&mass))?;
        Ok(found.map(|sorted| {
            let mut weights = vec![1.0; sorted.len()];
            places.iter().zip(sorted).for_each(|(&place, weight)| weights[place] = weight);
            weights
        }))
    }

    /// The weight of a machine's rows.
    ///
    /// # Errors
    /// When one of its sides has none.
    pub(super) fn weight(
        &self,
        coding: &Coding,
        pairing: Pairing,
        class_weights: Option<&[f64]>,
    ) -> Result<f64, Error> {
        let mut sides = [0.0; 2];
        for class in 0..coding.classes.len() {
            if let Some(sign) = pairing.sign(class) {
                sides[usize::from(sign > 0.0)] +=
                    self.class_weight[class] * class_weights.map_or(1.0, |weights| weights[class]);
            }
        }
        if sides.iter().all(|side| *side > 0.0 && side.is_finite()) {
            return Ok(sides[0] + sides[1]);
        }
        let class = coding.classes.get(pairing.positive).map_or_else(String::new, |label| quoted(label.text()));
        Err(Error::Data {
            what: format!("the class {class}, or all others, have no rows of weight above 0"),
            help: "give rows of at least two classes a weight above 0".into(),
        })
    }

    /// How many rows of weight above 0 a machine has.
    pub(super) fn rows(&self, pairing: Pairing) -> usize {
        pairing.rows(&self.weighted_rows)
    }
}
