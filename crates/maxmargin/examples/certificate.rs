//! The certificate: how far a model is from the best one, and whether that is true.

use maxmargin::{Error, Svc};

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), Error> {
    let x = [[0.0, 0.1], [1.0, 0.9], [0.2, 1.0], [1.1, 0.0], [0.5, 0.4]];
    let y = [1, 1, -1, -1, 1];
    let model = Svc::rbf().gamma(1.0).c(10.0).tolerance(1e-6).fit((&x, &y))?;

    let certificate = model.certificate().expect("a support vector machine has one");
    println!("objective {:.6}, and none is below {:.6}", certificate.primal, certificate.dual);
    println!("relative gap {:.1e}, largest violation {:.1e}", certificate.relative_gap, certificate.violation);
    assert!(certificate.relative_gap < 1e-5);

    // Anybody with the data can compute it again, from the coefficients alone.
    assert!(model.verify((&x, &y))?.holds());
    // Of other data it is not true.
    assert!(!model.verify((&x, &[1, 1, -1, -1, -1]))?.holds());
    Ok(())
}
