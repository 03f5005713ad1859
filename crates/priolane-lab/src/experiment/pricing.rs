//! `[price]`: prices of virtual machines and flows (PACCP §IV).

use priolane_core::keys::{Bounds, Form, KeyError, KeyValue as _, Keys, Schema, Value, WrittenValue};
use priolane_core::price::fbp::Prices;
use priolane_core::price::tariff::{Charge, Tariff};

/// Maximum price.
const MAX_PRICE: f64 = 1e12;

/// Default of P1 / P0 (PACCP §V-B).
const P1_OVER_P0: f64 = 0.6;

/// Unit of P2, in bits.
const GIGABIT: f64 = 1e9;

/// Prices in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Keys)]
pub struct Price {
    /// P0: price of a virtual machine, per second.
    #[key(required = "p0 = 1.0: the price of a machine per second", form = Amount, source = "PACCP §IV")]
    pub p0: f64,
    /// P1: price of a virtual machine (VBP), per second and unit of weight above 1.
    #[key(default = P1_OVER_P0 * p0, shown = "0.6 p0", form = Amount, source = "PACCP §V-B")]
    pub p1: f64,
    /// P2: price of a virtual machine (VBP), per gigabit.
    #[key(default = 0.0, form = Amount, source = "PACCP §IV")]
    pub p2: f64,
    /// P0s: price of a flow (FBP) above best effort, per second.
    #[key(default = 0.0, form = Amount, source = "PACCP §IV")]
    pub p0s: f64,
    /// P1s: price of a flow, per second and unit of weight above 1.
    #[key(default = p1, shown = "p1", form = Amount, source = "PACCP §IV")]
    pub p1s: f64,
    /// P2s: price of a flow, per gigabit.
    #[key(default = p2, shown = "p2", form = Amount, source = "PACCP §IV")]
    pub p2s: f64,
    /// The bits to which P2 and P2s apply.
    #[key(default = Charge::Reserved)]
    pub charge: Charge,
}

/// A price from 0 to [`MAX_PRICE`].
#[derive(Clone, Copy, Debug)]
struct Amount;

impl Form<f64> for Amount {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<f64, KeyError> {
        let price = f64::read(value, &Bounds::ANY)?;
        if (0.0..=MAX_PRICE).contains(&price) {
            return Ok(price);
        }
        Err(KeyError::new(format!("the price {price} is out of range"), "a price of at least zero"))
    }

    fn write(price: &f64) -> WrittenValue {
        price.write()
    }

    fn schema() -> Schema {
        Schema::Number
    }
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
