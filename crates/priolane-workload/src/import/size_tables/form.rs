//! The form of a table: the unit of its sizes, and what lies between its rows.
//!
//! Sizes are bytes if a size is 0, if the smallest is 40 or more (as packets, no flow would be shorter than 58 kB), or if
//! the largest would be above 2 GB as packets. Otherwise both readings are possible, and the user states the unit.
//!
//! Sizes between rows occur (`linear`), as in the generators of HPCC, TrafficGenerator, YAPS and ns-2, but with a stated
//! mean only those of rows do (`step`), as in Homa's simulator. If the stated mean is that of one of the two, it decides.

use priolane_core::sizes::Interpolation;
use priolane_source::InputError;

use super::rows::{CellUnits, Probabilities, SizeUnit, Table};

/// The smallest size that cannot be meant in packets.
const LARGE_FIRST: f64 = 40.0;

/// The largest flow that is expected, in bytes.
const LARGEST_FLOW: f64 = 2e9;

/// Bytes of a packet of the tables of pFabric, PIAS, YAPS and Homa.
const PACKET: u32 = 1460;

/// The relative distance within which a stated mean is that of the rows.
const MEAN_SLACK: f64 = 2e-3;

/// The statements of the user about a table; `None` for what its content shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The unit of sizes.
    pub unit: Option<SizeUnit>,
    /// Bytes of a packet, 1 to 65535; default 1460.
    pub packet: Option<u32>,
    /// The sizes between rows.
    pub interpolation: Option<Interpolation>,
}

/// The form of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    pub(super) unit: SizeUnit,
    pub(super) unit_from: String,
    /// Bytes of a packet.
    pub(super) packet: u32,
    pub(super) probabilities: Probabilities,
    pub(super) interpolation: Interpolation,
    pub(super) interpolation_from: String,
}

impl Form {
    /// Returns the units of the table's cells.
    pub(super) fn units(&self) -> CellUnits {
        CellUnits {
            bytes: if self.unit == SizeUnit::Packets { f64::from(self.packet) } else { 1.0 },
            probabilities: self.probabilities,
        }
    }

    /// Finds the form of a table with probabilities of this unit.
    pub(super) fn of(
        table: &Table,
        probabilities: Probabilities,
        options: &Options,
    ) -> Result<Self, InputError> {
        let packet = options.packet.unwrap_or(PACKET);
        let mut form = Self {
            unit: SizeUnit::Bytes,
            unit_from: String::new(),
            packet,
            probabilities,
            interpolation: Interpolation::Linear,
            interpolation_from: String::new(),
        };
        form.find_interpolation(table, options)?;
        let smallest = table.rows.first().map_or(0.0, |row| row.size);
        let largest = table.rows.last().map_or(0.0, |row| row.size);
        let (unit, from) = match (options.unit, table.named_unit) {
            (Some(unit), _) => (unit, "--unit says so".to_owned()),
            (None, Some(unit)) => (unit, "the header says so".to_owned()),
            _ if smallest == 0.0 => (SizeUnit::Bytes, "the first size is 0".to_owned()),
            _ if smallest >= LARGE_FIRST => {
                (SizeUnit::Bytes, format!("the smallest flow would be {smallest} packets"))
            }
            _ if largest * f64::from(packet) > LARGEST_FLOW => {
                let gigabytes = largest * f64::from(packet) / 1e9;
                (SizeUnit::Bytes, format!("the largest flow would be {gigabytes:.3} GB in packets"))
            }
            _ => return Err(form.undecided(table)),
        };
        if unit == SizeUnit::Bytes && options.packet.is_some() {
            let what = format!("--mss has no meaning for sizes in bytes, and they are, since {from}");
            return Err(table.error(what, "--unit packets, or remove --mss"));
        }
        (form.unit, form.unit_from) = (unit, from);
        Ok(form)
    }

    fn find_interpolation(&mut self, table: &Table, options: &Options) -> Result<(), InputError> {
        let mean = |interpolation| table.distribution(self.units(), interpolation).map(|law| law.mean());
        let (linear, step) = (mean(Interpolation::Linear)?, mean(Interpolation::Step)?);
        let near = |stated: f64, mean: f64| (stated / mean - 1.0).abs() <= MEAN_SLACK;
        let (interpolation, from) = match (options.interpolation, table.stated_mean) {
            (Some(stated), _) => (stated, "--interpolation says so"),
            (None, None) => (Interpolation::Linear, "tables of two or three columns are read so"),
            (None, Some(stated)) if near(stated, step) => {
                (Interpolation::Step, "the mean in the first line is that of steps")
            }
            (None, Some(stated)) if near(stated, linear) => {
                (Interpolation::Linear, "the mean in the first line is that of lines between rows")
            }
            (None, Some(_)) => (Interpolation::Step, "tables that begin with a mean are read so"),
        };
        (self.interpolation, self.interpolation_from) = (interpolation, from.to_owned());
        Ok(())
    }

    /// Returns the error for a table whose sizes may be bytes or packets.
    fn undecided(&self, table: &Table) -> InputError {
        let mean = match table.distribution(self.units(), self.interpolation) {
            Ok(law) => law.mean(),
            Err(error) => return error,
        };
        let packets = amount(mean * f64::from(self.packet));
        let what = format!(
            "sizes may be bytes (mean {}) or packets of {} bytes (mean {packets})",
            amount(mean),
            self.packet
        );
        table.error(what, "--unit bytes or --unit packets")
    }

    /// Returns what the user should know about a table of this form.
    pub(super) fn notes(&self, table: &Table) -> Vec<String> {
        let mut notes = Vec::new();
        let first = &table.rows[0];
        if first.cdf > 0.0 {
            let part = first.cdf * 100.0 / self.probabilities.whole();
            notes.push(format!("the first row begins at {part:.4} %: as many flows have exactly its size"));
        }
        let law = table.distribution(self.units(), self.interpolation).ok();
        let packet = if self.unit == SizeUnit::Packets { f64::from(self.packet) } else { 1.0 };
        if let (Some(stated), Some(mean)) = (table.stated_mean, law.map(|law| law.mean() / packet))
            && (stated / mean - 1.0).abs() > MEAN_SLACK
        {
            notes
                .push(format!("the first line states a mean of {stated}, but that of the rows is {mean:.6}"));
        }
        notes
    }
}

/// Formats bytes for messages.
fn amount(bytes: f64) -> String {
    match bytes {
        b if b >= 1e9 => format!("{:.4} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.4} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.4} kB", b / 1e3),
        b => format!("{b:.2} B"),
    }
}
