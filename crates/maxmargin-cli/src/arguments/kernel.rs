//! The arguments that say which kernel.

use clap::Args;
use maxmargin::error::quoted;
use maxmargin::kernel::{Gamma, KernelParams};

use crate::failure::Failure;

/// Which kernel.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArguments {
    /// linear, polynomial, rbf, sigmoid, laplacian, chi-square, precomputed; or an expression of them, such as
    /// "rbf(gamma=0.5) + 2*linear" [default: linear; train chooses by the data, as with auto]. With precomputed the data is the table of kernel values, in LIBSVM text with or without
    /// serial numbers: label 0:i 1:K(x, x_1) 2:K(x, x_2) ...
    #[arg(long, value_name = "KERNEL")]
    pub(crate) kernel: Option<String>,
    /// The factor gamma: a number, scale (1/(columns · variance)) or auto (1/columns) [default: scale]
    #[arg(long, value_name = "GAMMA", allow_hyphen_values = true, conflicts_with = "sigma")]
    pub(crate) gamma: Option<String>,
    /// The bandwidth of the rbf kernel: gamma = 1/sigma². Where a book has exp(-d²/(2 sigma²)), give its sigma times the square root of 2
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    pub(crate) sigma: Option<f64>,
    /// The degree of the polynomial kernel [default: 3]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) degree: Option<u32>,
    /// The constant of the polynomial and sigmoid kernels [default: 0]
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) coef0: Option<f64>,
}

impl KernelArguments {
    /// The kernel asked for.
    ///
    /// # Errors
    /// When the expression does not read, or a flag does not belong to the kernel.
    pub(crate) fn params(&self) -> Result<KernelParams, Failure> {
        if let Some(flag) = self.flag().filter(|_| self.kernel.is_none()) {
            return Err(Failure::new(
                format!("--{flag} goes with a kernel that is named, and none is"),
                format!("name it, as in --kernel rbf --scale standard --{flag} .., or leave out --{flag}"),
            ));
        }
        if let Some(flag) = self.flag().filter(|_| self.is_auto()) {
            return Err(Failure::new(
                format!("--{flag} goes with a kernel that is named, not with auto"),
                format!("leave out --{flag}, or name the kernel, as in --kernel rbf"),
            ));
        }
        let text = self.kernel.as_deref().filter(|_| !self.is_auto()).unwrap_or("linear").to_ascii_lowercase();
        let text = text.as_str();
        let mut kernel: KernelParams = text.parse()?;
        let gamma = match (&self.gamma, self.sigma) {
            (Some(gamma), _) => Some(("gamma", gamma.parse()?)),
            (None, Some(sigma)) => Some(("sigma", Gamma::Sigma(sigma))),
            (None, None) => None,
        };
        if text.contains(['(', '+', '*'])
            && let Some(flag) = self.flag()
        {
            return Err(Failure::new(
                format!("--{flag} goes with a kernel named alone, not with the expression {}", quoted(text)),
                "write the parameters into the expression, as in rbf(gamma=0.5)",
            ));
        }
        if let Some((flag, asked)) = gamma {
            let is_rbf = matches!(kernel, KernelParams::Rbf { .. });
            match kernel.gamma_mut() {
                Some(gamma) if flag == "gamma" || is_rbf => *gamma = asked,
                _ if flag == "sigma" => return Err(not_of(text, flag, "rbf")),
                _ => return Err(not_of(text, flag, "polynomial, rbf, sigmoid, laplacian and chi-square")),
            }
        }
        if let Some(asked) = self.degree {
            *kernel.degree_mut().ok_or_else(|| not_of(text, "degree", "polynomial"))? = asked;
        }
        if let Some(asked) = self.coef0 {
            *kernel.coef0_mut().ok_or_else(|| not_of(text, "coef0", "polynomial and sigmoid"))? = asked;
        }
        Ok(kernel)
    }

    /// Whether the data is to decide.
    pub(crate) fn is_auto(&self) -> bool {
        self.kernel.as_deref() == Some("auto")
    }

    /// A flag that was given.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        [
            ("gamma", self.gamma.is_some()),
            ("sigma", self.sigma.is_some()),
            ("degree", self.degree.is_some()),
            ("coef0", self.coef0.is_some()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }
}

fn not_of(kernel: &str, flag: &str, others: &str) -> Failure {
    Failure::new(
        format!("the kernel {} has no {flag}", quoted(kernel)),
        format!("leave out --{flag}, or name a kernel that has it with --kernel: {others}"),
    )
}
