//! The curve of a quadratic kernel, and the surface above the plane that makes it a section by a plane.

use maxmargin::geometry::Conic;
use maxmargin::kernel::KernelFunction;
use maxmargin::problem::Bias;
use serde::Serialize;

use crate::fit::Fitted;

/// The boundary `a x1² + b x1 x2 + c x2² + d x1 + e x2 + g = 0` of a machine with a kernel of degree 2.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ConicNumbers {
    pub(crate) kind: &'static str,
    /// a, b, c, d, e, g.
    pub(crate) coefficients: [f64; 6],
    pub(crate) centre: Option<[f64; 2]>,
    pub(crate) semi_axes: Option<[f64; 2]>,
    /// The angle of the longer axis, in radians.
    pub(crate) angle: Option<f64>,
}

/// The curve of a fit, where its boundary is one.
pub(crate) fn conic(fitted: &Fitted) -> Option<ConicNumbers> {
    let machine = fitted.only_machine()?;
    let KernelFunction::Polynomial(kernel) = &fitted.model.recipe().kernel else { return None };
    if kernel.degree != 2 {
        return None;
    }
    // A folded bias is a column of ones: γ⟨x', z'⟩ + c = γ⟨x, z⟩ + (γ + c).
    let folded = if fitted.model.recipe().bias == Bias::Folded { kernel.gamma } else { 0.0 };
    let (matrix, coefficients) = (fitted.data.matrix(), fitted.coefficients());
    let found = Conic::of_quadratic_kernel(matrix, &coefficients, kernel.gamma, kernel.coef0 + folded, machine.bias);
    let conic = found.ok()?;
    Some(ConicNumbers {
        kind: conic.kind().name(),
        coefficients: conic.coefficients(),
        centre: conic.centre(),
        semi_axes: conic.semi_axes(),
        angle: conic.orientation(),
    })
}
