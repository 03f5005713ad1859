//! Service that a group's flows or virtual machines pay for: `cos`, `theta`, `w`, `mix`, `mix_draw`, `mix_offset`, `plan`, `resplit`.

use priolane_core::endpoint::Weights;
use priolane_core::keys::{
    Bound, Bounds, Form, KeyConflict, KeyError, KeyInfo, KeyValue as _, Keys, Pairs, Schema, Table, Tables,
    Value, Words, WrittenValue,
};
use priolane_core::price::{Cos, vbp};
use priolane_core::units::{Rate, Span};
use priolane_sim::scenario::VmPricing;
use priolane_source::{Form as KeyForm, Own, Replace, SharedKeys};

/// Maximum weight.
const MAX_W: f64 = 1_000.0;

/// Maximum number of flows in a block of `mix_draw = "by_size"`.
const MOST_BLOCK: usize = 100;

/// The service of a group.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(group = "service", check_stated = Self::check)]
pub struct Service {
    /// The way in which the pairs of `mix` are drawn.
    #[key(default = MixDraw::Independent, skip_default, source = "docs/assumptions.md#mix-by-size")]
    pub mix_draw: MixDraw,
    /// Added to the number in [0, 1) that decides a flow's pair of `mix`, modulo 1.
    #[key(default = 0.0, skip_default, form = Offset)]
    pub mix_offset: f64,
    /// Pairs drawn per flow, in place of `cos`, `theta` and `w`: shares with the sum 1.
    #[key(default = Vec::new(), skip_default, shown = "none", form = Mix)]
    pub mix: Vec<MixShare>,
    /// Pair (theta, w) of each flow or, with `vbp`, of each virtual machine.
    #[keys(flatten)]
    pub pair: Pair,
    /// The payer of the group's traffic.
    #[key(default = Payer::Fbp, skip_default, source = "PACCP §IV")]
    pub plan: Payer,
    /// With `vbp`: interval in which a virtual machine collects arrivals and departures before it recomputes shares.
    #[key(optional, shown = "recomputed at once", range = "(0, )")]
    pub resplit: Option<Span>,
    /// With `vbp`: a virtual machine's own split of its pair, one for each flow in flow list order.
    #[key(default = Vec::new(), skip_default, shown = "even", form = Tables)]
    pub split: Vec<Pair>,
}

/// The way in which the pairs of a mix are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum MixDraw {
    /// Each flow independently.
    #[default]
    Independent,
    /// In blocks of flows of similar size, within which every pair has its exact share.
    BySize,
}

/// The payer of a group's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
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
        self.word()
    }
}

/// A pair (theta, w); best effort has no keys in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pair(pub Weights);

/// The keys of a pair.
#[derive(Keys)]
#[keys(group = "service", check = Self::check)]
struct PairKeys {
    /// The class of service: a check of `theta` and `w`, which decide it.
    #[key(optional, shown = "that of theta and w", source = "PACCP §III")]
    cos: Option<Cos>,
    /// The minimum rate that is paid for.
    #[key(optional, shown = "none", source = "PACCP §III")]
    theta: Option<Rate>,
    /// The weight that is paid for, from 0.001 to 1000.
    #[key(optional, shown = "1", form = Weight, source = "PACCP §III")]
    w: Option<u32>,
}

impl PairKeys {
    fn weights(&self) -> Weights {
        Weights { theta: self.theta, w_milli: self.w.unwrap_or(Weights::BEST_EFFORT.w_milli) }
    }

    /// Checks that `cos` is the class of service of theta and w.
    fn check(&mut self) -> Result<(), KeyConflict> {
        let Some(cos) = self.cos.filter(|&cos| cos != Cos::of(self.weights())) else { return Ok(()) };
        let (what, fix) = match cos {
            Cos::BestEffort => ("BE has no theta and a w of at most 1", "cos = \"DS\" or \"MRG\""),
            Cos::Differentiated => ("DS has no theta and a w above 1", "w = 2 without theta"),
            Cos::MinimumRate => ("MRG needs a minimum rate", "theta = \"2Gbps\""),
        };
        Err(KeyConflict::of("cos", what, fix))
    }
}

impl Keys for Pair {
    fn read<T: Table>(table: &mut T) -> Result<Self, T::Error> {
        PairKeys::read(table).map(|keys| Self(keys.weights()))
    }

    fn write(&self, out: &mut Pairs) {
        let paid = self.0 != Weights::BEST_EFFORT;
        let (cos, w) = (paid.then(|| Cos::of(self.0)), paid.then_some(self.0.w_milli));
        PairKeys { cos, theta: self.0.theta, w }.write(out);
    }

    fn describe(out: &mut Vec<KeyInfo>) {
        PairKeys::describe(out);
    }
}

/// A weight in thousandths.
#[derive(Clone, Copy, Debug)]
struct Weight;

impl Form<u32> for Weight {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<u32, KeyError> {
        let weight = f64::read(value, bounds)?;
        if (1e-3..=MAX_W).contains(&weight) {
            return Ok((weight * 1e3).round() as u32);
        }
        let fix = format!("a weight from 0.001 to {MAX_W}; 1 is best effort");
        Err(KeyError::new(format!("the weight {weight} is out of range"), fix))
    }

    fn write(thousandths: &u32) -> WrittenValue {
        WrittenValue::Float(f64::from(*thousandths) / 1e3)
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

/// A part of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
#[keys(check = Self::check)]
pub struct MixShare {
    /// Fraction of the flows, above 0; all fractions sum to 1.
    #[key(required = "share = 0.6", range = "[0, 1]")]
    pub share: f64,
    /// Pair of these flows.
    #[keys(flatten)]
    pub pair: Pair,
}

impl MixShare {
    fn check(&mut self) -> Result<(), KeyConflict> {
        match self.share > 0.0 {
            true => Ok(()),
            false => Err(KeyConflict::of("share", "no flow has this pair", "a share above 0")),
        }
    }
}

/// A number of at least 0 and less than 1.
#[derive(Clone, Copy, Debug)]
struct Offset;

impl Form<f64> for Offset {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<f64, KeyError> {
        const UNIT_INTERVAL: Bounds =
            Bounds { low: Bound::Included(0.0), high: Bound::Included(1.0), text: "[0, 1]" };
        let offset = f64::read(value, &UNIT_INTERVAL)?;
        if offset < 1.0 {
            return Ok(offset);
        }
        Err(KeyError::new("an offset of 1 is the same as 0", "an offset of at least 0 and less than 1"))
    }

    fn write(value: &f64) -> WrittenValue {
        value.write()
    }

    fn schema() -> Schema {
        Schema::Number
    }
}

/// The parts of a mix, whose shares sum to 1.
#[derive(Clone, Copy, Debug)]
struct Mix;

impl Form<Vec<MixShare>> for Mix {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Vec<MixShare>, KeyError> {
        let all: Vec<MixShare> = Tables::read(value, bounds)?;
        let sum: f64 = all.iter().map(|portion| portion.share).sum();
        if (sum - 1.0).abs() <= 1e-9 {
            return Ok(all);
        }
        let what = format!("the shares sum to {}", (sum * 1e9).round() / 1e9);
        Err(KeyError::new(what, "shares with the sum 1"))
    }

    fn write(value: &Vec<MixShare>) -> WrittenValue {
        Tables::write(value)
    }

    fn schema() -> Schema {
        <Tables as Form<Vec<MixShare>>>::schema()
    }
}

impl Service {
    /// Checks that the keys go together; `stated` tells which of them the file states.
    fn check(&mut self, stated: &dyn Fn(&str) -> bool) -> Result<(), KeyConflict> {
        let alone = ["mix_draw", "mix_offset"].into_iter().find(|key| stated(key) && !stated("mix"));
        if let Some(key) = alone {
            let what = format!("{key} has no effect without a mix");
            return Err(KeyConflict::of(key, what, format!("mix = [...], or remove {key}")));
        }
        if self.plan == Payer::Fbp
            && let Some(key) = ["resplit", "split"].into_iter().find(|key| stated(key))
        {
            let what = "flows that are billed separately do not split a pair";
            return Err(KeyConflict::of(key, what, "plan = \"vbp\""));
        }
        if !self.mix.is_empty() && ["cos", "theta", "w"].into_iter().any(stated) {
            return Err(KeyConflict::of("mix", "both mix and cos, theta or w are set", "only one of them"));
        }
        if !self.mix.is_empty() && self.plan == Payer::Vbp {
            let what = "with plan = \"vbp\" a machine splits one pair over its flows";
            return Err(KeyConflict::of("mix", what, "plan = \"fbp\", or remove mix"));
        }
        self.check_split()
    }

    /// Checks that the sum of a given split does not exceed what is paid for.
    fn check_split(&self) -> Result<(), KeyConflict> {
        if self.split.is_empty() {
            return Ok(());
        }
        let pairs: Vec<Weights> = self.split.iter().map(|pair| pair.0).collect();
        if let Err(overdrawn) = vbp::custom(self.pair.0, &pairs) {
            let fix = "pairs with sums of at most the theta and w of the group";
            return Err(KeyConflict::of("split", overdrawn.to_string(), fix));
        }
        match self.resplit {
            None => Ok(()),
            Some(_) => {
                let what = "a given split is never recomputed";
                Err(KeyConflict::of("resplit", what, "either resplit or split"))
            }
        }
    }

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
    KeyForm { by: &["mix"], with: &["mix_draw", "mix_offset"] },
    KeyForm { by: &["cos", "theta", "w"], with: &[] },
]);

/// `split` and `resplit` are alternatives.
pub(super) const SPLIT: Replace =
    Replace::OneOf(&[KeyForm { by: &["split"], with: &[] }, KeyForm { by: &["resplit"], with: &[] }]);

/// Keys that depend on the payment plan.
pub(super) const PLAN: Replace = Replace::Kind {
    tag: "plan",
    default: Some("fbp"),
    own: Own::Only(&["mix", "mix_draw", "mix_offset", "split", "resplit"]),
    shared: SharedKeys::Listed(&[]),
};

/// theta and w determine the class of service.
pub(super) const PAIR: Replace = Replace::Stated(&["theta", "w"], &["cos"]);
