//! One class: rows on the edge lie inside, for the training, for predictions and for the search for suspects alike.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Matrix};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::problem::Task;
use maxmargin::{TrainingParams, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn cloud(rows: usize, seed: u64) -> Dataset {
    let mut random = Pcg64::seed_from_u64(seed);
    let values = (0..3 * rows).map(|_| random.random::<f64>() + random.random::<f64>()).collect::<Vec<_>>();
    Dataset::unlabelled(Matrix::dense(rows, 3, values).unwrap())
}

#[test]
fn at_most_the_part_nu_lies_outside_and_everybody_counts_the_same_rows() {
    for seed in 0..12 {
        for (rows, nu) in [(40, 0.1), (200, 0.05), (300, 0.3)] {
            let data = cloud(rows, seed);
            let kernels = [KernelParams::Rbf { gamma: Gamma::Scale }, KernelParams::Rbf { gamma: Gamma::Value(3.0) }];
            for (kernel, task) in kernels
                .iter()
                .flat_map(|kernel| [(kernel.clone(), Task::OneClass { nu }), (kernel.clone(), Task::Svdd { nu })])
            {
                let params = TrainingParams { task, kernel, ..TrainingParams::default() };
                let model = params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
                let points = model.align(&data).unwrap().points;
                let values = model.decision_values(&points, &Workers::none());
                let outside = values.iter().filter(|value| **value < 0.0).count();
                let told = format!("seed {seed}, {rows} rows, {task:?}: {outside} outside");
                assert!(outside as f64 <= nu * rows as f64 + 1e-9, "{told}");
                assert_eq!(model.machines()[0].training_errors, outside, "{told}");
                assert_eq!(model.suspects(&data, &Workers::none()).unwrap().suspects.len(), outside, "{told}");
                assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{told}");
            }
        }
    }
}
