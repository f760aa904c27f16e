//! One class: which rows are unlike the others?

use maxmargin::{Error, OneClass, Svdd};

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), Error> {
    // Points on a ring, and two far from it.
    let angle = |k: u32| f64::from(k) * 0.1;
    let mut x: Vec<[f64; 2]> = (0..63).map(|k| [angle(k).cos(), angle(k).sin()]).collect();
    x.extend([[3.0, 3.0], [-4.0, 0.5]]);

    let model = OneClass::rbf().gamma(0.5).nu(0.1).fit(&x)?;
    let usual = model.predict(&x)?;
    let unlike: Vec<usize> = (0..x.len()).filter(|&row| !usual[row]).collect();
    println!("rows unlike the others: {unlike:?}");
    assert!(unlike.contains(&63) && unlike.contains(&64));

    // The smallest ball around the rows, but for a share of 5 % of them.
    let ball = Svdd::linear().nu(0.05).fit(&x)?;
    assert_eq!(ball.predict(&[[0.0, 0.0], [9.0, 9.0]])?, [true, false]);
    Ok(())
}
