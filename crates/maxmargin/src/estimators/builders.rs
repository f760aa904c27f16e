//! The twelve builders: each fills in the parameters of the general door.

use super::plan::{Plan, team_for_fit};
use super::{ClassLabel, Classes, Fitted, Numbers, TrainingData, Usual};
use crate::calibration::CalibrationParams;
use crate::checkpoint::CheckpointControl;
use crate::control::{Control, Unattended};
use crate::data::{Label, ScalingKind};
use crate::error::Error;
use crate::kernel::{Gamma, KernelParams};
use crate::problem::{Loss, Norm, Penalty, Task};
use crate::provenance::SolverKind;
use crate::recipe::Multiclass;
use crate::solver::{Shrinkage, Threshold};
use crate::training::{Beginning, ClassWeights, Landmarks, TrainingParams};
use crate::workers::Workers;

/// What every builder can be told, and `fit`.
macro_rules! every_builder {
    ($builder:ident, $answers:ty $(, $label:ident)?) => {
        impl $builder {
            /// The largest violation of the optimality conditions to stop at.
            #[must_use]
            pub fn tolerance(mut self, tolerance: f64) -> Self {
                self.0.params.settings.tolerance = Some(tolerance);
                self
            }

            /// Brings every column to mean 0 and standard deviation 1 first, in training and in prediction.
            #[must_use]
            pub fn standardised(mut self) -> Self {
                self.0.params.scaling = ScalingKind::Standard;
                self
            }

            /// Bytes for caches and matrices.
            #[must_use]
            pub fn memory(mut self, bytes: u64) -> Self {
                self.0.params.settings.memory = bytes;
                self
            }

            /// Changes whatever else [`TrainingParams`] has.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use maxmargin::", stringify!($builder), ";")]
            ///
            #[doc = concat!("let builder = ", stringify!($builder), "::default().configure(|params| params.settings.seed = 7);")]
            /// assert_eq!(builder.params().settings.seed, 7);
            /// ```
            #[must_use]
            pub fn configure(mut self, change: impl FnOnce(&mut TrainingParams)) -> Self {
                change(&mut self.0.params);
                self
            }

            /// The parameters so far.
            pub fn params(&self) -> &TrainingParams {
                &self.0.params
            }

            /// Trains a model on all cores, without anybody watching. The bits do not depend on the number of cores.
            ///
            /// # Errors
            /// When a parameter is out of its range or does not go with another, no problem can be made of the data, or memory is lacking.
            pub fn fit$(<$label>)?(&self, data: impl TrainingData<$answers>) -> Result<Fitted<$answers>, Error>
            $(where $label: ClassLabel<Class = $label>)?
            {
                let data = data.to_dataset()?;
                let workers = team_for_fit(&data)?;
                self.0.fit(&data, &workers, &mut Unattended)?.try_into()
            }

            /// Trains a model on these threads, while a control watches. When that breaks off, the model is what there is by then, and
            /// [`Fitted::stop`] says so.
            ///
            /// # Errors
            /// As `fit`.
            pub fn fit_with$(<$label>)?(
                &self,
                data: impl TrainingData<$answers>,
                workers: &Workers,
                control: &mut dyn Control,
            ) -> Result<Fitted<$answers>, Error>
            $(where $label: ClassLabel<Class = $label>)?
            {
                self.0.fit(&data.to_dataset()?, workers, control)?.try_into()
            }

            /// Trains a model from where another training was: a checkpoint, or a model with another penalty or kernel. The control may keep
            /// checkpoints of this one.
            ///
            /// # Errors
            /// As `fit`; and when the beginning belongs to other data or parameters.
            pub fn fit_from$(<$label>)?(
                &self,
                data: impl TrainingData<$answers>,
                beginning: Beginning<'_>,
                workers: &Workers,
                control: &mut dyn CheckpointControl,
            ) -> Result<Fitted<$answers>, Error>
            $(where $label: ClassLabel<Class = $label>)?
            {
                self.0.fit_from(&data.to_dataset()?, beginning, workers, control)?.try_into()
            }
        }

        impl From<$builder> for TrainingParams {
            fn from(builder: $builder) -> TrainingParams {
                builder.0.params
            }
        }
    };
}

/// Constructors by kernel, and the numbers that kernels have.
macro_rules! with_kernels {
    ($builder:ident: $new:expr) => {
        impl $builder {
            /// With the Gaussian kernel `exp(−γ‖x − z‖²)`.
            pub fn rbf() -> Self {
                Self::kernel(KernelParams::Rbf { gamma: Gamma::default() })
            }

            /// With the linear kernel `⟨x, z⟩`.
            pub fn linear() -> Self {
                Self::kernel(KernelParams::Linear)
            }

            /// With the polynomial kernel `(γ⟨x, z⟩ + c)^degree`, c = 0 unless [`Self::coef0`] says otherwise.
            pub fn poly(degree: u32) -> Self {
                Self::kernel(KernelParams::Polynomial { gamma: Gamma::default(), coef0: 0.0, degree })
            }

            /// With any kernel: a text such as `"linear + 0.5 * rbf(gamma=2)"`, [`KernelParams`], or one of your own as a
            /// [`Custom`](crate::Custom).
            pub fn kernel<K: TryInto<KernelParams, Error: Into<Error>>>(kernel: K) -> Self {
                $builder(Plan::new($new).with_kernel(kernel))
            }

            /// γ: a number, or the rule to find it by. It is [`Gamma::Scale`] unless this is called.
            #[must_use]
            pub fn gamma(mut self, gamma: impl Into<Gamma>) -> Self {
                self.0.set_gamma(gamma.into());
                self
            }

            /// The constant c of a polynomial or sigmoid kernel.
            #[must_use]
            pub fn coef0(mut self, coef0: f64) -> Self {
                self.0.set_coef0(coef0);
                self
            }
        }

        impl Default for $builder {
            fn default() -> Self {
                Self::rbf()
            }
        }
    };
}

/// A constructor without a choice of kernel.
macro_rules! linear_only {
    ($builder:ident: $new:expr) => {
        impl $builder {
            /// With the default parameters.
            pub fn new() -> Self {
                $builder(Plan::new($new))
            }
        }

        impl Default for $builder {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

macro_rules! with_c {
    ($($builder:ident)*) => {$(
        impl $builder {
            /// C: what a unit of slack costs beside ½‖w‖². Larger fits the training rows more closely.
            #[must_use]
            pub fn c(mut self, c: f64) -> Self {
                self.0.params.penalty = Penalty::C(c);
                self
            }
        }
    )*};
}

macro_rules! with_classes {
    ($($builder:ident)*) => {$(
        impl $builder {
            /// What a row of each class counts; 1 for classes that are not named.
            #[must_use]
            pub fn class_weights<L: ClassLabel>(mut self, weights: impl IntoIterator<Item = (L, f64)>) -> Self {
                let weights = weights.into_iter().map(|(label, weight)| (Label::new(label.text()), weight));
                self.0.params.class_weights = ClassWeights::Given(weights.collect());
                self
            }

            /// Rows count such that all classes weigh the same.
            #[must_use]
            pub fn balanced(mut self) -> Self {
                self.0.params.class_weights = ClassWeights::Balanced;
                self
            }

            /// How more than two classes are told apart.
            #[must_use]
            pub fn multiclass(mut self, way: Multiclass) -> Self {
                self.0.params.multiclass = Some(way);
                self
            }
        }
    )*};
}

macro_rules! with_probabilities {
    ($($builder:ident)*) => {$(
        impl $builder {
            /// Asks for [`Fitted::probabilities`], which are made of the decision values of rows that were left out. Takes about as long as
            /// five more fits, much less where a formula knows these values.
            #[must_use]
            pub fn probabilities(mut self) -> Self {
                self.0.calibration = Some(CalibrationParams::default());
                self
            }
        }
    )*};
}

macro_rules! with_landmarks {
    ($($builder:ident)*) => {$(
        impl $builder {
            /// The best sum over `count` rows, drawn at random, in the place of the exact machine: for rows by the hundred thousand. The certificate is that
            /// of the problem on these landmarks.
            #[must_use]
            pub fn landmarks(mut self, count: usize) -> Self {
                let old = self.0.params.landmarks;
                self.0.params.landmarks = Some(Landmarks {
                    count,
                    prove: old.is_some_and(|old| old.prove),
                    until: old.and_then(|old| old.until),
                });
                self
            }

            /// Proves how far the machine on landmarks is from the exact one: see [`Model::proved_gap`](crate::Model::proved_gap). Unless
            /// `landmarks` was called before, there are 500.
            #[must_use]
            pub fn prove(mut self) -> Self {
                let old = self.0.params.landmarks;
                let count = old.map_or(Landmarks::FIRST, |old| old.count);
                self.0.params.landmarks = Some(Landmarks { count, prove: true, until: old.and_then(|old| old.until) });
                self
            }

            /// Doubles the number of landmarks until the proved relative gap to the exact machine is at most `gap`.
            #[must_use]
            pub fn prove_to(mut self, gap: f64) -> Self {
                let count = self.0.params.landmarks.map_or(Landmarks::FIRST, |old| old.count);
                self.0.params.landmarks = Some(Landmarks { count, prove: true, until: Some(gap) });
                self
            }
        }
    )*};
}

macro_rules! with_nu {
    ($($builder:ident: $set:expr, $doc:literal;)*) => {$(
        impl $builder {
            #[doc = $doc]
            #[must_use]
            pub fn nu(mut self, nu: f64) -> Self {
                let set: fn(&mut TrainingParams, f64) = $set;
                set(&mut self.0.params, nu);
                self
            }
        }
    )*};
}

macro_rules! with_epsilon {
    ($($builder:ident)*) => {$(
        impl $builder {
            /// ε: differences up to this cost nothing. It is 0.1 unless this is called.
            #[must_use]
            pub fn epsilon(mut self, epsilon: f64) -> Self {
                self.0.params.task = Task::Regression { epsilon };
                self
            }
        }
    )*};
}

/// A support vector machine that tells classes apart (C-SVC), with any kernel.
///
/// ```text
/// min ½‖w‖² + C Σ max(0, 1 − y_i f(x_i))
/// ```
///
/// Several classes have a machine for each pair.
///
/// # Examples
/// ```
/// use maxmargin::Svc;
///
/// let x = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
/// let model = Svc::rbf().gamma(1.0).c(10.0).fit((&x, &["even", "even", "odd", "odd"]))?;
/// assert_eq!(model.predict(&[[0.1, 0.0], [0.9, 0.1]])?, ["even", "odd"]);
/// assert!(model.certificate().unwrap().relative_gap < 1e-6);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Svc(Plan);

with_kernels!(Svc: TrainingParams::default());
every_builder!(Svc, Classes<L>, L);

impl Svc {
    /// Allows no slack at all: C is infinite. Rows that cannot be separated are an error, which names some of them.
    #[must_use]
    pub fn hard_margin(mut self) -> Self {
        self.0.params.penalty = Penalty::Hard;
        self
    }
}

/// A support vector machine that tells classes apart, with a share ν of rows in the place of C (ν-SVC).
///
/// # Examples
/// ```
/// use maxmargin::NuSvc;
///
/// let x = [[0.0], [1.0], [2.0], [3.0]];
/// let model = NuSvc::linear().nu(0.5).fit((&x, &[0, 0, 1, 1]))?;
/// assert_eq!(model.predict(&[[-1.0], [4.0]])?, [0, 1]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NuSvc(Plan);

with_kernels!(NuSvc: TrainingParams { penalty: Penalty::Nu(0.5), ..TrainingParams::default() });
every_builder!(NuSvc, Classes<L>, L);

/// Support vector regression (ε-SVR), with any kernel.
///
/// ```text
/// min ½‖w‖² + C Σ max(0, |f(x_i) − t_i| − ε)
/// ```
///
/// # Examples
/// ```
/// use maxmargin::Svr;
///
/// let x = [[0.0], [1.0], [2.0], [3.0]];
/// let model = Svr::linear().c(100.0).epsilon(0.0).fit((&x, &[1.0, 3.0, 5.0, 7.0]))?;
/// assert!((model.predict(&[[1.5]])?[0] - 4.0).abs() < 1e-6);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Svr(Plan);

/// The parameters of a regression.
fn regression() -> TrainingParams {
    TrainingParams { task: Task::Regression { epsilon: 0.1 }, ..TrainingParams::default() }
}

with_kernels!(Svr: regression());
every_builder!(Svr, Numbers);

/// Support vector regression with a share ν of rows in the place of ε (ν-SVR).
///
/// # Examples
/// ```
/// use maxmargin::NuSvr;
///
/// let x = [[0.0], [1.0], [2.0], [3.0]];
/// let model = NuSvr::linear().c(100.0).nu(0.5).fit((&x, &[1.0, 3.0, 5.0, 7.0]))?;
/// assert!((model.predict(&[[1.5]])?[0] - 4.0).abs() < 1e-3);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NuSvr(Plan);

with_kernels!(NuSvr: TrainingParams { task: Task::NuRegression { nu: 0.5 }, ..TrainingParams::default() });
every_builder!(NuSvr, Numbers);

/// A linear support vector machine for many rows or columns: squared hinge loss, and several classes one against the rest.
///
/// ```text
/// min ½‖w‖² + C Σ max(0, 1 − y_i f(x_i))²
/// ```
///
/// # Examples
/// ```
/// use maxmargin::LinearSvc;
///
/// let x = [[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 4.0]];
/// let model = LinearSvc::new().fit((&x, &[0, 0, 1, 1]))?;
/// assert_eq!(model.predict(&x)?, [0, 0, 1, 1]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearSvc(Plan);

linear_only!(LinearSvc: TrainingParams {
    loss: Some(Loss::Squared),
    multiclass: Some(Multiclass::OneVsRest),
    ..TrainingParams::default()
});
every_builder!(LinearSvc, Classes<L>, L);

impl LinearSvc {
    /// Hinge loss, without the square.
    #[must_use]
    pub fn hinge(mut self) -> Self {
        self.0.params.loss = Some(Loss::Hinge);
        self
    }

    /// The penalty is the sum of the absolute weights, so that columns which help little are left out.
    #[must_use]
    pub fn l1(mut self) -> Self {
        self.0.params.norm = Norm::L1;
        self
    }
}

/// Linear support vector regression for many rows or columns.
///
/// # Examples
/// ```
/// use maxmargin::LinearSvr;
///
/// let x = [[0.0], [1.0], [2.0], [3.0]];
/// let model = LinearSvr::new().c(100.0).epsilon(0.0).fit((&x, &[1.0, 3.0, 5.0, 7.0]))?;
/// assert!(model.score(&x, &[1.0, 3.0, 5.0, 7.0])? > 0.999);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearSvr(Plan);

linear_only!(LinearSvr: regression());
every_builder!(LinearSvr, Numbers);

/// Logistic regression; several classes together (softmax). It has probabilities without being asked.
///
/// ```text
/// min ½‖w‖² + C Σ log(1 + exp(−y_i f(x_i)))
/// ```
///
/// # Examples
/// ```
/// use maxmargin::Logistic;
///
/// let x = [[0.0], [1.0], [2.0], [3.0]];
/// let model = Logistic::new().fit((&x, &["low", "low", "high", "high"]))?;
/// assert_eq!(model.classes(), ["high", "low"]);
/// assert!(model.probabilities(&[[3.0]])?[0][0] > 0.8);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Logistic(Plan);

linear_only!(Logistic: TrainingParams {
    loss: Some(Loss::Logistic),
    multiclass: Some(Multiclass::Joint),
    ..TrainingParams::default()
});
every_builder!(Logistic, Classes<L>, L);

impl Logistic {
    /// The penalty is the sum of the absolute weights, so that columns which help little are left out; several classes one against the
    /// rest.
    #[must_use]
    pub fn l1(mut self) -> Self {
        self.0.params.norm = Norm::L1;
        self.multiclass(Multiclass::OneVsRest)
    }

    /// No penalty on the weights. Rows that can be separated have no best model then.
    #[must_use]
    pub fn unpenalised(mut self) -> Self {
        self.0.params.penalty = Penalty::None;
        self
    }
}

/// Fisher's linear discriminant, all classes together. It minimises no objective that has a certificate.
///
/// # Examples
/// ```
/// use maxmargin::Lda;
///
/// let x = [[0.0, 0.0], [1.0, 0.2], [0.1, 1.0], [4.0, 4.0], [5.0, 4.2], [4.1, 5.0]];
/// let model = Lda::new().fit((&x, &[0, 0, 0, 1, 1, 1]))?;
/// assert_eq!(model.predict(&[[0.5, 0.5], [4.5, 4.5]])?, [0, 1]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lda(Plan);

linear_only!(Lda: {
    let mut params = TrainingParams { solver: Some(SolverKind::Lda), ..TrainingParams::default() };
    params.settings.threshold = Threshold::EqualOdds;
    params
});
every_builder!(Lda, Classes<L>, L);

impl Lda {
    /// How far the scatter within the classes is drawn towards a multiple of the identity: from 0 to 1, or [`Shrinkage::Auto`].
    #[must_use]
    pub fn shrinkage(mut self, shrinkage: impl Into<Shrinkage>) -> Self {
        self.0.params.settings.shrinkage = shrinkage.into();
        self
    }
}

/// Tells rows that are like the training rows from those that are not, by a plane (one-class SVM).
///
/// # Examples
/// ```
/// use maxmargin::OneClass;
///
/// let x: Vec<[f64; 2]> = (0..20).map(|k| [f64::from(k % 5) * 0.1, f64::from(k / 5) * 0.1]).collect();
/// let model = OneClass::rbf().gamma(1.0).nu(0.1).fit(&x)?;
/// assert_eq!(model.predict(&[[0.2, 0.2], [9.0, 9.0]])?, [true, false]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OneClass(Plan);

with_kernels!(OneClass: TrainingParams { task: Task::OneClass { nu: 0.5 }, ..TrainingParams::default() });
every_builder!(OneClass, Usual);

/// Tells rows that are like the training rows from those that are not, by the smallest ball around them (support vector data description).
///
/// # Examples
/// ```
/// use maxmargin::Svdd;
///
/// let x: Vec<[f64; 2]> = (0..20).map(|k| [f64::from(k % 5) * 0.1, f64::from(k / 5) * 0.1]).collect();
/// let model = Svdd::linear().nu(0.1).fit(&x)?;
/// assert_eq!(model.predict(&[[0.2, 0.2], [9.0, 9.0]])?, [true, false]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Svdd(Plan);

with_kernels!(Svdd: TrainingParams { task: Task::Svdd { nu: 0.5 }, ..TrainingParams::default() });
every_builder!(Svdd, Usual);

/// The relevance vector machine: very few vectors, and probabilities without being asked. Not convex, so without a certificate.
///
/// # Examples
/// ```
/// use maxmargin::Rvm;
///
/// let x = [[0.0], [0.5], [1.0], [2.0], [2.5], [3.0]];
/// let model = Rvm::rbf().gamma(1.0).fit((&x, &[false, false, false, true, true, true]))?;
/// assert_eq!(model.predict(&[[0.2], [2.8]])?, [false, true]);
/// assert!(model.certificate().is_none());
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rvm(Plan);

with_kernels!(Rvm: TrainingParams { solver: Some(SolverKind::Rvm), ..TrainingParams::default() });
every_builder!(Rvm, Classes<L>, L);

/// Rosenblatt's perceptron, several classes one against the rest. It minimises no objective, so it has no certificate.
///
/// # Examples
/// ```
/// use maxmargin::Perceptron;
///
/// let x = [[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 4.0]];
/// let model = Perceptron::new().fit((&x, &[0, 0, 1, 1]))?;
/// assert_eq!(model.predict(&x)?, [0, 0, 1, 1]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Perceptron(Plan);

linear_only!(Perceptron: perceptron(SolverKind::Perceptron));
every_builder!(Perceptron, Classes<L>, L);

fn perceptron(solver: SolverKind) -> TrainingParams {
    TrainingParams { solver: Some(solver), multiclass: Some(Multiclass::OneVsRest), ..TrainingParams::default() }
}

impl Perceptron {
    /// With a kernel: a text such as `"rbf(gamma=2)"`, [`KernelParams`], or one of your own as a [`Custom`](crate::Custom).
    pub fn kernel<K: TryInto<KernelParams, Error: Into<Error>>>(kernel: K) -> Self {
        Perceptron(Plan::new(perceptron(SolverKind::KernelPerceptron)).with_kernel(kernel))
    }

    /// The model is the average of all steps, and not the last one.
    #[must_use]
    pub fn averaged(mut self) -> Self {
        self.0.params.settings.averaged = true;
        self
    }
}

with_landmarks!(Svc Svr);
with_c!(Svc Svr NuSvr LinearSvc LinearSvr Logistic);
with_classes!(Svc NuSvc LinearSvc Logistic Lda Rvm Perceptron);
with_probabilities!(Svc NuSvc LinearSvc Lda Perceptron);
with_epsilon!(Svr LinearSvr);
with_nu! {
    NuSvc: |params, nu| params.penalty = Penalty::Nu(nu),
        "ν: at least this share of the rows are support vectors, and at most this share lie on the wrong side of the margin. It is 0.5 unless this is called.";
    NuSvr: |params, nu| params.task = Task::NuRegression { nu },
        "ν: at most this share of the rows lie outside of the tube. It is 0.5 unless this is called.";
    OneClass: |params, nu| params.task = Task::OneClass { nu },
        "ν: at most this share of the training rows lie on the other side. It is 0.5 unless this is called.";
    Svdd: |params, nu| params.task = Task::Svdd { nu },
        "ν: at most this share of the training rows lie outside of the ball. It is 0.5 unless this is called.";
}
