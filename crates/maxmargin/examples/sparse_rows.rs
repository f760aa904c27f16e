//! Sparse rows: words of short texts, as compressed rows and as triplets.

use maxmargin::{Error, LinearSvc, Matrix};

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), Error> {
    // Columns: cheap, offer, meeting, minutes. Row i has the entries offsets[i]..offsets[i + 1].
    let (offsets, columns) = (vec![0, 2, 4, 6, 8], vec![0, 1, 0, 1, 2, 3, 1, 2]);
    let counts = vec![2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 3.0];
    let x = Matrix::sparse(4, 4, offsets, columns, counts)?;

    let model = LinearSvc::new().class_weights([("spam", 2.0)]).fit((&x, &["spam", "spam", "work", "work"]))?;
    let new = Matrix::from_entries(2, 4, [(0, 0, 1.0), (1, 3, 2.0)])?;
    println!("{:?}", model.predict(&new)?);
    assert_eq!(model.predict(&new)?, ["spam", "work"]);
    Ok(())
}
