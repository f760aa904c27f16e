//! The examples run to their ends, and check on the way what they print.
#![allow(clippy::unwrap_used)] // a test may end here
#![allow(unreachable_pub)]

#[path = "../examples/certificate.rs"]
mod certificate;
#[path = "../examples/first_fit.rs"]
mod first_fit;
#[path = "../examples/interrupt_and_resume.rs"]
mod interrupt_and_resume;
#[path = "../examples/one_class.rs"]
mod one_class;
#[path = "../examples/own_kernel.rs"]
mod own_kernel;
#[path = "../examples/probabilities.rs"]
mod probabilities;
#[path = "../examples/regression.rs"]
mod regression;
#[path = "../examples/sparse_rows.rs"]
mod sparse_rows;

macro_rules! run_to_their_ends {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            $name::main().unwrap();
        }
    )*};
}

run_to_their_ends!(first_fit regression one_class probabilities own_kernel interrupt_and_resume certificate sparse_rows);
