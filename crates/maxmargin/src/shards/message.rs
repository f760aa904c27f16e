//! What leader and shards tell each other.

use super::wire::{from_bytes, to_bytes, wire_enum, wire_struct};
use crate::error::Error;
use crate::problem::{Bias, Direction, RowLoss};

/// A question to every shard: one part for each machine that is not done yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// The number of the training, so that answers to another one are known.
    pub(super) training: u64,
    /// The number of the round.
    pub(super) round: u64,
    /// What is minimised; `None` while the rows are only counted.
    pub(super) plan: Option<Plan>,
    pub(super) asks: Vec<Ask>,
}

/// What every shard has to know of the problem.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) loss: RowLoss,
    pub(super) bias: Bias,
    /// The labels of all shards, sorted; empty for a regression.
    pub(super) classes: Vec<String>,
    /// What a row of each class counts; empty where it is 1.
    pub(super) class_weights: Vec<f64>,
    /// C
    pub(super) cost: f64,
    /// Tells slack from none when rows are counted.
    pub(super) tolerance: f64,
    pub(super) columns: usize,
}

/// One machine's part of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ask {
    pub(super) machine: usize,
    /// The number of the look that is asked for, or that the question is about. Numbers grow along a training.
    pub(super) look: u64,
    /// σ of (R.3)
    pub(super) sharpness: f64,
    /// How often the centres were moved before that look.
    pub(super) moves: usize,
    /// The look whose coefficients became the last centres.
    pub(super) centred_at: u64,
    /// w and b of the look. A shard that remembers the look needs them only for a new one.
    pub(super) point: Option<Direction>,
    /// Every move of the centres; only for shards that have lost theirs.
    pub(super) journal: Option<Vec<Move>>,
    pub(super) what: What,
}

/// A move of the centres (PN.3): the coefficients at this point, with this σ, became the centres.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) point: Direction,
    pub(super) sharpness: f64,
}

/// What a machine wants to know.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// The sums at a new point; with the matrix, or the diagonal, of (PN.2).
    Look { matrix: bool, diagonal: bool },
    /// (PN.5) at some lengths along a direction that led to the look.
    Slope { direction: Direction, lengths: Vec<f64> },
    /// `Σ h_i (⟨p, x_i⟩ + p_b)(x_i, 1)`
    Curved { along: Direction },
    /// The sums of balanced coefficients.
    Balance { balance: Balance },
    /// What a certificate counts, given `Σ c_i x_i` of all shards.
    Certify { balance: Balance, combined: Direction },
}

/// How coefficients are made to sum to 0: of those of one sign a part is taken away, from those between their bounds and those at a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Balance {
    /// The heavier sign; 0 where nothing has to change.
    pub(super) sign: f64,
    /// The parts that are taken of coefficients between their bounds, and at a bound.
    pub(super) parts: [f64; 2],
}

impl Balance {
    /// A coefficient after it.
    pub(super) fn of(self, coefficient: f64, at_bound: bool) -> f64 {
        if coefficient * self.sign > 0.0 {
            coefficient - self.parts[usize::from(at_bound)] * coefficient
        } else {
            coefficient
        }
    }
}

/// What a shard says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reply {
    pub(super) training: u64,
    pub(super) round: u64,
    pub(super) shard: usize,
    pub(super) body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// The shard does not remember what the question is about: it has to be asked in full.
    Behind {},
    /// The shard cannot take part.
    Refused {
        what: String,
        help: String,
    },
    Survey {
        survey: Survey,
    },
    Sums {
        sums: Vec<Sums>,
    },
}

/// What the rows of a shard are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Survey {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) labels: Vec<String>,
    /// For each label its rows, its rows with a weight above 0, and their weight.
    pub(super) label_rows: Vec<usize>,
    pub(super) weighted_rows: Vec<usize>,
    pub(super) weight: Vec<f64>,
    /// The largest ‖x‖².
    pub(super) longest: f64,
    /// Σ t and Σ t² over the targets of a regression.
    pub(super) targets: [f64; 2],
    pub(super) weighted: bool,
    pub(super) fingerprint: String,
    /// The version of the engine, and the vector instructions that it uses there.
    pub(super) version: String,
    pub(super) processor: String,
}

/// The sums of one machine over the rows of a shard, or of several after they were folded. What nobody asked for is 0 or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// `Σ c_i x_i` and `Σ c_i`; of `Curved` the product.
    pub(super) combined: Direction,
    /// Σ C_iℓ, Σ −(C_iℓ)*(−c_i), Σ (R.5) and Σ c_i f_i.
    pub(super) losses: f64,
    pub(super) dual_terms: f64,
    pub(super) gaps: f64,
    pub(super) products: f64,
    /// Σ c_i ρ_i of (SH.2), and Σ |c_i| a_i, its size.
    pub(super) probe: f64,
    pub(super) probe_size: f64,
    /// Σ |c_i| ‖x_i‖ and Σ |c_i|.
    pub(super) lengths: f64,
    pub(super) mass: f64,
    /// Σ C_i
    pub(super) costs: f64,
    /// Σ h_i, and Σ h_i f_i² with the matrix.
    pub(super) curvatures: f64,
    pub(super) curvature: f64,
    /// The largest |c_i − c′_i|/(C_i σ).
    pub(super) largest_shift: f64,
    /// Σ |c_i| by sign (− and +), of coefficients between their bounds and at a bound.
    pub(super) free: [f64; 2],
    pub(super) bounded: [f64; 2],
    /// The lower half of the losses' Hessian, column by column, b last.
    pub(super) matrix: Vec<f64>,
    /// The diagonal of the losses' Hessian.
    pub(super) diagonal: Vec<f64>,
    /// For each length of `Slope`: Σ C_iℓ, Σ c_i δ_i and Σ h_i δ_i².
    pub(super) lengthwise: Vec<[f64; 3]>,
    /// Σ ξ_i and the counts of a certificate: not support, on margin, inside, misclassified, support, bounded; and errors.
    pub(super) slack: f64,
    pub(super) counts: Vec<usize>,
    /// The largest b that a row asks for at least, and the negative of the smallest that one allows at most, (SH.5).
    pub(super) most: f64,
    pub(super) least: f64,
}

impl Sums {
    /// Adds the sums of the shards that follow.
    pub(super) fn join(&mut self, other: &Sums) {
        self.combined.add(1.0, &other.combined);
        self.losses += other.losses;
        self.dual_terms += other.dual_terms;
        self.gaps += other.gaps;
        self.products += other.products;
        self.probe += other.probe;
        self.probe_size += other.probe_size;
        self.lengths += other.lengths;
        self.mass += other.mass;
        self.costs += other.costs;
        self.curvatures += other.curvatures;
        self.curvature += other.curvature;
        self.largest_shift = self.largest_shift.max(other.largest_shift);
        for k in 0..2 {
            self.free[k] += other.free[k];
            self.bounded[k] += other.bounded[k];
        }
        add_all(&mut self.matrix, &other.matrix);
        add_all(&mut self.diagonal, &other.diagonal);
        for (own, other) in self.lengthwise.iter_mut().zip(&other.lengthwise) {
            (0..3).for_each(|k| own[k] += other[k]);
        }
        self.slack += other.slack;
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
        self.most = self.most.max(other.most);
        self.least = self.least.max(other.least);
    }
}

fn add_all(own: &mut [f64], other: &[f64]) {
    own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
}

wire_struct!(Direction { weights, bias });
wire_struct!(Question { training, round, plan, asks });
wire_struct!(Plan { loss, bias, classes, class_weights, cost, tolerance, columns });
wire_struct!(Ask { machine, look, sharpness, moves, centred_at, point, journal, what });
wire_struct!(Move { point, sharpness });
wire_struct!(Balance { sign, parts });
wire_struct!(Reply { training, round, shard, body });
wire_struct!(Survey {
    rows,
    columns,
    labels,
    label_rows,
    weighted_rows,
    weight,
    longest,
    targets,
    weighted,
    fingerprint,
    version,
    processor,
});
wire_struct!(Sums {
    combined,
    losses,
    dual_terms,
    gaps,
    products,
    probe,
    probe_size,
    lengths,
    mass,
    costs,
    curvatures,
    curvature,
    largest_shift,
    free,
    bounded,
    matrix,
    diagonal,
    lengthwise,
    slack,
    counts,
    most,
    least,
});
wire_enum!(What {
    0 => Look { matrix, diagonal },
    1 => Slope { direction, lengths },
    2 => Curved { along },
    3 => Balance { balance },
    4 => Certify { balance, combined },
});
wire_enum!(Body {
    0 => Behind {},
    1 => Refused { what, help },
    2 => Survey { survey },
    3 => Sums { sums },
});
wire_enum!(Bias { 0 => Explicit {}, 1 => Folded {}, 2 => None {} });
wire_enum!(RowLoss {
    0 => Hinge {},
    1 => Squared {},
    2 => Logistic {},
    3 => Epsilon { 0: width },
    4 => SquaredEpsilon { 0: width },
    5 => OneClass {},
    6 => Ball {},
});

/// A question to the shards, to be carried to them as bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Request(pub(super) Question);

/// A shard's answer to a [`Request`], to be carried to the leader as bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer(pub(super) Reply);

fn damaged(what: &str) -> Error {
    Error::Data {
        what: format!("these bytes are no {what} of this version"),
        help: "use the same version of maxmargin wherever shards are answered".into(),
    }
}

impl Request {
    /// The request as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(&self.0)
    }

    /// The request that these bytes are.
    ///
    /// # Errors
    /// When they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        from_bytes(bytes).map(Request).ok_or_else(|| damaged("request"))
    }

    /// The number of the round that it belongs to.
    pub fn round(&self) -> u64 {
        self.0.round
    }
}

impl Answer {
    /// The answer as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(&self.0)
    }

    /// The answer that these bytes are.
    ///
    /// # Errors
    /// When they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        from_bytes(bytes).map(Answer).ok_or_else(|| damaged("answer"))
    }

    /// The number of the shard that gave it.
    pub fn shard(&self) -> usize {
        self.0.shard
    }
}
