//! Support vectors as `SVMClassifier` wants them: class by class.

use std::collections::BTreeMap;

use maxmargin::model::ModelParts;

use super::singles;
use crate::error::Error;

/// The vectors in the order of (OX.1): their places in the pool, and for each as many coefficients as there are classes but one.
pub(super) struct Table {
    /// How many vectors each class has.
    pub(super) sizes: Vec<usize>,
    pub(super) lines: Vec<(usize, Vec<f64>)>,
}

impl Table {
    /// All vectors for all machines: (OX.2).
    pub(super) fn shared(parts: &ModelParts) -> Self {
        let machines = parts.machines.len();
        let mut lines: Vec<(usize, Vec<f64>)> =
            (0..parts.support_rows.len()).map(|place| (place, vec![0.0; machines])).collect();
        for (number, machine) in parts.machines.iter().enumerate() {
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                lines[place as usize].1[number] = coefficient;
            }
        }
        let mut table = Table { sizes: vec![0; machines + 1], lines };
        table.sizes[0] = table.lines.len();
        table.never_empty(machines)
    }

    /// Each vector with the class that its coefficients speak for; twice where it speaks for two.
    pub(super) fn by_class(parts: &ModelParts) -> Self {
        let count = parts.classes.len();
        let mut of_class = vec![BTreeMap::<usize, Vec<f64>>::new(); count];
        for machine in &parts.machines {
            let Some(first) = machine.pairing.negative else { continue };
            let second = machine.pairing.positive;
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                // (OX.1) speaks for the first class, our f for the second.
                let (class, column) = if coefficient < 0.0 { (first, second - 1) } else { (second, first) };
                let line = of_class[class].entry(place as usize).or_insert_with(|| vec![0.0; count - 1]);
                line[column] = -coefficient;
            }
        }
        let sizes = of_class.iter().map(BTreeMap::len).collect();
        Table { sizes, lines: of_class.into_iter().flatten().collect() }.never_empty(count - 1)
    }

    /// An operator without vectors takes its coefficients for weights, so one is put in that adds nothing.
    fn never_empty(mut self, functions: usize) -> Self {
        if self.lines.is_empty() {
            self.sizes[0] = 1;
            self.lines.push((usize::MAX, vec![0.0; functions]));
        }
        self
    }

    /// A row for each function.
    pub(super) fn coefficients(&self) -> Result<Vec<f32>, Error> {
        let functions = self.lines.first().map_or(0, |(_, line)| line.len());
        singles((0..functions).flat_map(|k| self.lines.iter().map(move |(_, line)| line[k])), "a coefficient")
    }

    pub(super) fn vectors(&self, parts: &ModelParts) -> Result<Vec<f32>, Error> {
        let mut all = Vec::with_capacity(self.lines.len() * parts.columns);
        for (place, _) in &self.lines {
            match &parts.vectors {
                Some(vectors) if *place < vectors.rows() => all.extend(singles(vectors.row(*place), "a value")?),
                _ => all.resize(all.len() + parts.columns, 0.0),
            }
        }
        Ok(all)
    }
}
