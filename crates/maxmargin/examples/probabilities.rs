//! Three classes, and how likely each of them is.

use maxmargin::{Error, Svc, embedded, stratified_split};

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), Error> {
    let iris = embedded("iris").expect("a data set of the library");
    let (train, test) = stratified_split(iris.labels()?, 0.2, 1)?;
    let (train, test) = (iris.select_rows(&train), iris.select_rows(&test));

    let model = Svc::rbf().standardised().probabilities().fit(&train)?;
    println!("accuracy: {:.3}", model.score(&test, test.labels()?)?);
    println!("classes: {:?}", model.classes());

    let probabilities = model.probabilities(&test)?;
    for (class, line) in model.predict(&test)?.iter().zip(probabilities.rows()).take(5) {
        println!("{class}: {line:.3?}");
    }
    assert!(probabilities.rows().all(|line| (line.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    Ok(())
}
