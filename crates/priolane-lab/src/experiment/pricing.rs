//! `[price]`: prices of virtual machines and flows (PACCP §IV).

use priolane_core::price::fbp::Prices;
use priolane_core::price::tariff::{Charge, Tariff};
use serde::Serialize;

use priolane_source::{Field, InputError, Reader};

/// Maximum price.
const MAX_PRICE: f64 = 1e12;

/// Default of P1 / P0 (PACCP §V-B).
const P1_OVER_P0: f64 = 0.6;

/// Unit of P2, in bits.
const GIGABIT: f64 = 1e9;

/// Prices in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Price {
    /// P0: price of a virtual machine, per second.
    pub p0: f64,
    /// P1: price of a virtual machine (VBP), per second and unit of weight above 1.
    pub p1: f64,
    /// P2: price of a virtual machine (VBP), per gigabit.
    pub p2: f64,
    /// P0s: price of a flow (FBP) above best effort, per second.
    pub p0s: f64,
    /// P1s: price of a flow, per second and unit of weight above 1.
    pub p1s: f64,
    /// P2s: price of a flow, per gigabit.
    pub p2s: f64,
    /// The bits to which P2 and P2s apply.
    #[serde(serialize_with = "charge_text")]
    pub charge: Charge,
}

impl Price {
    /// Returns the tariff of virtual machines that pay for their flows (VBP).
    pub fn machines(&self) -> Tariff {
        Tariff { p0: self.p0, p1: self.p1, p2: self.p2 / GIGABIT, charge: self.charge }
    }

    /// Returns the prices of virtual machines whose flows pay for themselves (FBP).
    pub fn flows(&self) -> Prices {
        let flow = Tariff { p0: self.p0s, p1: self.p1s, p2: self.p2s / GIGABIT, charge: self.charge };
        Prices { upfront: self.p0, flow }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn charge_text<S: serde::Serializer>(charge: &Charge, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(match charge {
        Charge::Reserved => "reserved",
        Charge::Sent => "sent",
    })
}

/// Reads `[price]`. Defaults: P1 is 0.6 P0; P2 and P0s are 0; P1s is P1; P2s is P2.
pub(super) fn price(field: &Field<'_>) -> Result<Price, InputError> {
    let mut keys = field.table()?;
    let need = keys.need("p0", "p0 = 1.0: the price of a machine per second")?;
    let p0 = amount(&need)?;
    let mut or = |key, other| optional(&mut keys, key).map(|price| price.unwrap_or(other));
    let p1 = or("p1", P1_OVER_P0 * p0)?;
    let p2 = or("p2", 0.0)?;
    let (p0s, p1s, p2s) = (or("p0s", 0.0)?, or("p1s", p1)?, or("p2s", p2)?);
    let charges = [("reserved", Charge::Reserved), ("sent", Charge::Sent)];
    let charge = keys.word_or("charge", &charges, Charge::Reserved)?;
    keys.finish()?;
    Ok(Price { p0, p1, p2, p0s, p1s, p2s, charge })
}

fn optional(keys: &mut Reader<'_>, key: &'static str) -> Result<Option<f64>, InputError> {
    keys.take(key).map(|field| amount(&field)).transpose()
}

fn amount(field: &Field<'_>) -> Result<f64, InputError> {
    let price = field.any_number()?;
    if (0.0..=MAX_PRICE).contains(&price) {
        return Ok(price);
    }
    Err(field.error(format!("the price {price} is out of range"), "a price of at least zero"))
}
