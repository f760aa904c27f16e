//! A kernel of one's own: how much two histograms have in common.

use maxmargin::{Custom, Error, Svc};

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), Error> {
    let in_common = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(a, b)| a.min(*b)).sum();
    let x = [[5.0, 1.0, 0.0], [4.0, 2.0, 0.0], [0.0, 1.0, 5.0], [1.0, 0.0, 5.0]];
    let y = ["dark", "dark", "light", "light"];

    let model = Svc::kernel(Custom::new("in common", in_common)).c(1.0).fit((&x, &y))?;
    println!("{:?}", model.predict(&[[3.0, 3.0, 0.0], [0.0, 3.0, 3.0]])?);
    assert_eq!(model.predict(&x)?, y);

    // Sums and products of the kernels that are there need no code.
    let mixed = Svc::kernel("linear + 0.5 * rbf(gamma=2)").fit((&x, &y))?;
    assert_eq!(mixed.predict(&x)?, y);
    Ok(())
}
