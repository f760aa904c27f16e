//! Regression: the sine of a number, learnt from some of its values.

use maxmargin::{Error, Svr};

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), Error> {
    let x: Vec<[f64; 1]> = (0..60).map(|k| [f64::from(k) * 0.1]).collect();
    let y: Vec<f64> = x.iter().map(|[t]| t.sin()).collect();

    let model = Svr::rbf().gamma(1.0).c(100.0).epsilon(0.01).fit((&x, &y))?;
    let between = [[0.55], [1.55], [4.71]];
    let found = model.predict(&between)?;
    println!("R² on the training rows: {:.6}", model.score(&x, &y)?);
    for ([t], number) in between.iter().zip(&found) {
        println!("sin {t} = {:.4}, predicted {number:.4}", t.sin());
        assert!((number - t.sin()).abs() < 0.02);
    }
    Ok(())
}
