//! Service that a group's flows or virtual machines pay for: `cos`, `theta`, `w`, `mix`, `mix_draw`, `mix_offset`, `plan`, `resplit`.

use priolane_core::endpoint::Weights;
use priolane_core::keys::Plain;
use priolane_core::price::{Cos, vbp};
use priolane_core::units::Span;
use priolane_sim::scenario::VmPricing;
use serde::Serialize;
use serde::ser::Serializer;

use priolane_source::quantity::{as_text, show_rate};
use priolane_source::{Field, Form, InputError, Own, Reader, Replace, SharedKeys};

/// Maximum weight.
const MAX_W: f64 = 1_000.0;

/// Maximum number of flows in a block of `mix_draw = "by_size"`.
const MOST_BLOCK: usize = 100;

/// The service of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Default)]
pub struct Service {
    /// Pair (theta, w) of each flow or, with `vbp`, of each virtual machine.
    #[serde(flatten)]
    pub pair: Pair,
    /// Pairs drawn per flow, instead of a single one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<MixShare>,
    /// The way in which the pairs are drawn.
    #[serde(skip_serializing_if = "MixDraw::is_independent")]
    pub mix_draw: MixDraw,
    /// Added to the number in [0, 1) that decides a flow's pair, modulo 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub mix_offset: f64,
    /// The payer of the group's traffic.
    #[serde(skip_serializing_if = "Payer::is_flow")]
    pub plan: Payer,
    /// A virtual machine's own split of its pair, one for each flow in flow list order; without it, the split is even.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<Pair>,
    /// Interval in which a virtual machine collects arrivals and departures before it recomputes shares.
    #[serde(serialize_with = "as_text::optional_span", skip_serializing_if = "Option::is_none")]
    pub resplit: Option<Span>,
}

fn is_zero(offset: &f64) -> bool {
    *offset == 0.0
}

/// The way in which the pairs of a mix are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MixDraw {
    /// Each flow independently.
    #[default]
    Independent,
    /// In blocks of flows of similar size, within which every pair has its exact share
    /// (docs/assumptions.md#mix-by-size).
    BySize,
}

impl MixDraw {
    fn is_independent(&self) -> bool {
        *self == Self::Independent
    }
}

/// The payer of a group's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Payer {
    /// Each flow for itself (PACCP §IV-B).
    #[default]
    Fbp,
    /// Each host of the group, a virtual machine, for all its flows (PACCP §IV-A).
    Vbp,
}

impl Payer {
    /// Returns its name: fbp or vbp.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fbp => "fbp",
            Self::Vbp => "vbp",
        }
    }

    fn is_flow(&self) -> bool {
        *self == Self::Fbp
    }
}

/// A pair (theta, w) as written in a file; best effort serializes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pair(pub Weights);

impl Serialize for Pair {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct PairKeys {
            #[serde(skip_serializing_if = "Option::is_none")]
            cos: Option<&'static str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            theta: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            w: Option<f64>,
        }
        let paid = self.0 != Weights::BEST_EFFORT;
        let cos = paid.then(|| Cos::of(self.0).word());
        PairKeys { cos, theta: self.0.theta.map(show_rate), w: paid.then(|| self.0.w()) }.serialize(s)
    }
}

/// A part of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MixShare {
    /// Fraction of the flows, above 0; all fractions sum to 1.
    pub share: f64,
    /// Pair of these flows.
    #[serde(flatten)]
    pub pair: Pair,
}

impl Service {
    /// Returns all pairs that its flows or virtual machines have.
    pub fn pairs(&self) -> impl Iterator<Item = Weights> + '_ {
        let one = self.mix.is_empty().then_some(self.pair.0);
        let split = self.split.iter().map(|pair| pair.0);
        one.into_iter().chain(self.mix.iter().map(|portion| portion.pair.0)).chain(split)
    }

    /// Returns the pricing of each host as a virtual machine that splits its pair evenly; `None` for other plans.
    pub fn machine(&self) -> Option<VmPricing> {
        (self.plan == Payer::Vbp && self.split.is_empty())
            .then_some(VmPricing { pair: self.pair.0, interval: self.resplit })
    }

    /// Returns the smallest block, at most [`MOST_BLOCK`], in which each pair of the mix has a whole number of flows.
    pub fn block(&self) -> usize {
        let whole = |flows: usize| {
            let of = |share: f64| share * flows as f64;
            self.mix.iter().all(|portion| (of(portion.share) - of(portion.share).round()).abs() < 1e-6)
        };
        (1..MOST_BLOCK).find(|&flows| whole(flows)).unwrap_or(MOST_BLOCK)
    }

    /// Returns the pair of a flow for a uniform `u` in [0, 1).
    pub fn draw(&self, u: f64) -> Weights {
        let u = (u + self.mix_offset).fract();
        let mut below = 0.0;
        let drawn = self.mix.iter().find(|portion| {
            below += portion.share;
            u < below
        });
        drawn.or(self.mix.last()).map_or(self.pair.0, |portion| portion.pair.0)
    }
}

/// A single pair and a mix are alternatives.
pub(super) const ONE_PAIR_OR_MIX: Replace = Replace::OneOf(&[
    Form { by: &["mix"], with: &["mix_draw", "mix_offset"] },
    Form { by: &["cos", "theta", "w"], with: &[] },
]);

/// `split` and `resplit` are alternatives.
pub(super) const SPLIT: Replace =
    Replace::OneOf(&[Form { by: &["split"], with: &[] }, Form { by: &["resplit"], with: &[] }]);

/// Keys that depend on the payment plan.
pub(super) const PLAN: Replace = Replace::Kind {
    tag: "plan",
    default: Some("fbp"),
    own: Own::Only(&["mix", "mix_draw", "mix_offset", "split", "resplit"]),
    shared: SharedKeys::Listed(&[]),
};

/// theta and w determine the class of service.
pub(super) const PAIR: Replace = Replace::Stated(&["theta", "w"], &["cos"]);

/// Reads the keys of a group's service.
pub(super) fn read(keys: &mut Reader<'_>) -> Result<Service, InputError> {
    let (mix_draw, mix_offset) = (mix_draw(keys)?, mix_offset(keys)?);
    let mix_field = keys.take("mix");
    let stated = ["cos", "theta", "w"].iter().any(|key| keys.has(key));
    let pair = pair(keys)?;
    let plan = keys.word_or("plan", &[("fbp", Payer::Fbp), ("vbp", Payer::Vbp)], Payer::Fbp)?;
    let resplit = keys.take("resplit");
    if let Some(field) = resplit.as_ref().filter(|_| plan == Payer::Fbp) {
        return Err(field.error("flows that are billed separately do not split a pair", "plan = \"vbp\""));
    }
    let mix = match mix_field {
        None => Vec::new(),
        Some(field) if stated => {
            return Err(field.error("both mix and cos, theta or w are set", "only one of them"));
        }
        Some(field) if plan == Payer::Vbp => {
            return Err(field.error(
                "with plan = \"vbp\" a machine splits one pair over its flows",
                "plan = \"fbp\", or remove mix",
            ));
        }
        Some(field) => mix(&field)?,
    };
    let split = keys.take("split").map_or(Ok(Vec::new()), |f| split(&f, pair.0, plan))?;
    if let Some(field) = resplit.as_ref().filter(|_| !split.is_empty()) {
        return Err(field.error("a given split is never recomputed", "either resplit or split"));
    }
    let resplit = resplit.map(|f| f.positive_span()).transpose()?;
    Ok(Service { pair, mix, mix_draw, mix_offset, plan, split, resplit })
}

/// Takes a key that has no effect without a mix.
fn of_mix<'a>(keys: &mut Reader<'a>, key: &'static str) -> Result<Option<Field<'a>>, InputError> {
    match keys.take(key) {
        Some(field) if !keys.has("mix") => {
            let what = format!("{key} has no effect without a mix");
            Err(field.error(what, format!("mix = [...], or remove {key}")))
        }
        field => Ok(field),
    }
}

fn mix_draw(keys: &mut Reader<'_>) -> Result<MixDraw, InputError> {
    let Some(field) = of_mix(keys, "mix_draw")? else { return Ok(MixDraw::Independent) };
    field.word(&[("independent", MixDraw::Independent), ("by_size", MixDraw::BySize)])
}

fn mix_offset(keys: &mut Reader<'_>) -> Result<f64, InputError> {
    let Some(field) = of_mix(keys, "mix_offset")? else { return Ok(0.0) };
    match field.number(0.0, 1.0)? {
        1.0 => Err(field.error("an offset of 1 is the same as 0", "an offset of at least 0 and less than 1")),
        offset => Ok(offset),
    }
}

/// Reads the pairs of a virtual machine's flows, whose sum must not exceed what it pays for.
fn split(field: &Field<'_>, paid: Weights, plan: Payer) -> Result<Vec<Pair>, InputError> {
    if plan == Payer::Fbp {
        return Err(field.error("flows that are billed separately do not split a pair", "plan = \"vbp\""));
    }
    let mut all = Vec::new();
    for item in field.filled_list()? {
        let mut keys = item.table()?;
        all.push(pair(&mut keys)?);
        keys.finish()?;
    }
    let pairs: Vec<Weights> = all.iter().map(|pair| pair.0).collect();
    match vbp::custom(paid, &pairs) {
        Ok(()) => Ok(all),
        Err(overdrawn) => {
            Err(field.error(overdrawn.to_string(), "pairs with sums of at most the theta and w of the group"))
        }
    }
}

fn mix(field: &Field<'_>) -> Result<Vec<MixShare>, InputError> {
    let mut all = Vec::new();
    for item in field.filled_list()? {
        let mut keys = item.table()?;
        let share_field = keys.need("share", "share = 0.6")?;
        let share = share_field.number(0.0, 1.0)?;
        if share == 0.0 {
            return Err(share_field.error("no flow has this pair", "a share above 0"));
        }
        all.push(MixShare { share, pair: pair(&mut keys)? });
        keys.finish()?;
    }
    let sum: f64 = all.iter().map(|portion| portion.share).sum();
    if (sum - 1.0).abs() > 1e-9 {
        return Err(
            field.error(format!("the shares sum to {}", (sum * 1e9).round() / 1e9), "shares with the sum 1")
        );
    }
    Ok(all)
}

/// Reads `cos`, `theta` and `w`, which must be consistent.
pub(super) fn pair(keys: &mut Reader<'_>) -> Result<Pair, InputError> {
    let cos = keys.take("cos");
    let theta = keys.take("theta").map(|f| f.rate()).transpose()?;
    let w_milli = keys.take("w").map_or(Ok(1_000), |f| w(&f))?;
    let pair = Weights { theta, w_milli };
    if let Some(field) = cos {
        let cos = field.read::<Cos, Plain>()?;
        let fault = match cos {
            _ if cos == Cos::of(pair) => return Ok(Pair(pair)),
            Cos::BestEffort => ("BE has no theta and a w of at most 1", "cos = \"DS\" or \"MRG\""),
            Cos::Differentiated => ("DS has no theta and a w above 1", "w = 2 without theta"),
            Cos::MinimumRate => ("MRG needs a minimum rate", "theta = \"2Gbps\""),
        };
        return Err(field.error(fault.0, fault.1));
    }
    Ok(Pair(pair))
}

/// Reads a weight, in thousandths.
fn w(field: &Field<'_>) -> Result<u32, InputError> {
    let value = field.any_number()?;
    let thousandths = (value * 1e3).round();
    if !(1e-3..=MAX_W).contains(&value) {
        let fix = format!("a weight from 0.001 to {MAX_W}; 1 is best effort");
        return Err(field.error(format!("the weight {value} is out of range"), fix));
    }
    Ok(thousandths as u32)
}
