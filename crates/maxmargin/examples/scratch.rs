//! scratch
use maxmargin::data::*;
use maxmargin::kernel::*;
use maxmargin::problem::*;
use maxmargin::solver::*;
use maxmargin::training::*;
use maxmargin::*;
fn go(name: &str, data: &Dataset, p: TrainingParams) {
    let t = std::time::Instant::now();
    match p.check().and_then(|t| t.fit(data, &Workers::none(), &mut Unattended)) {
        Ok(m) => {
            let x = &m.machines()[0];
            println!(
                "{name}: {} it={} stop={:?} w={:?} b={} err={} {:?} sv={:?}",
                m.parts().solver,
                x.iterations,
                x.stop,
                x.weights,
                x.bias,
                x.training_errors,
                t.elapsed(),
                x.coefficients
            );
            println!("   {:?}", x.evidence);
            let v = m.verify(data, &Workers::none()).unwrap();
            println!("   holds {} {:?}", v.holds(), v.disagreements);
        }
        Err(e) => println!("{name}: {e} / {}", e.help()),
    }
}
fn main() {
    let s = Settings { tolerance: 1e-6, ..Settings::default() };
    for solver in [SolverKind::Smo, SolverKind::DualAscent] {
        let base = || TrainingParams { settings: s.clone(), solver: Some(solver), ..Default::default() };
        go("E1", &embedded("e1").unwrap(), TrainingParams { penalty: Penalty::Hard, ..base() });
        go("E2", &embedded("e2").unwrap(), TrainingParams { penalty: Penalty::C(1.0), ..base() });
        go("E2hard", &embedded("e2").unwrap(), TrainingParams { penalty: Penalty::Hard, ..base() });
        go(
            "E3",
            &embedded("e3").unwrap(),
            TrainingParams {
                penalty: Penalty::C(4.0),
                kernel: KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 },
                ..base()
            },
        );
        let iris = embedded("iris").unwrap().select_columns(&["sepal_length".into(), "sepal_width".into()]).unwrap();
        for (c, b) in [(10.0, Bias::Folded), (1000.0, Bias::Folded), (10.0, Bias::Explicit), (1000.0, Bias::Explicit)] {
            go(
                "E4",
                &iris,
                TrainingParams { positive: Some(Label::new("setosa")), penalty: Penalty::C(c), bias: b, ..base() },
            );
        }
        go(
            "E5",
            &iris,
            TrainingParams {
                positive: Some(Label::new("setosa")),
                penalty: Penalty::C(1000.),
                bias: Bias::Folded,
                loss: Some(Loss::Squared),
                ..base()
            },
        );
    }
}
