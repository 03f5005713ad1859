//! `cause` of a claim: the reason for its verdict. It has no effect on runs and verdicts.

use priolane_core::keys::{Keys, Words};

/// The cause of a verdict, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
pub struct Cause {
    /// The part that decides the verdict.
    #[key(required = "kind = \"unstated\"")]
    pub kind: CauseKind,
    /// The text that shows it.
    #[keys(flatten)]
    pub shown_by: CauseEvidence,
}

/// The part that decides a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum CauseKind {
    /// The paper contradicts itself, or its number is impossible in the system that it describes.
    Paper,
    /// A choice that the paper does not state.
    Unstated,
    /// A band, a sentence or a measure of ours.
    Ours,
    /// A difference between our model, or its size, and the authors' release.
    Release,
    /// The claim does not hold.
    Finding,
}

/// The text that shows a cause: exactly one of the three.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(
    one_of,
    all_known,
    count("the cause has {} of proof, reading and evidence", "exactly one of proof, reading, evidence")
)]
pub enum CauseEvidence {
    /// A test, as `FILE::NAME`, or a metric that a panel of the figure draws as a bound.
    #[key(required = "proof = \"tests/test_proofs.py::test_name\"")]
    Proof(String),
    /// The reading of the paper under which the claim is reproduced.
    #[key(required = "reading = \"any_host\"")]
    Reading(String),
    /// A sentence.
    #[key(required = "evidence = \"The band is ours, and the paper's own word is wider.\"")]
    Evidence(String),
}
