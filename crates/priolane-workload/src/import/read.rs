//! Imports a text of any format.

use std::io::BufRead;

use priolane_source::InputError;
use priolane_source::csv::Lines;

use super::collect::Collector;
use super::format::{Format, ImportOption};
use super::guess::{self, Guess};
use super::imported::ImportedFlows;
use super::network::Network;
use super::options::Options;
use super::{aequitas, binary, coflow, goflow2, hpcc, htsim, job, nfdump, sflow, tshark, vpc, yaps, zeek};

/// A text to import.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name in messages.
    pub file: &'a str,
    /// Its format; `None` to detect it.
    pub format: Option<Format>,
    /// The network of a simulation of HPCC or htsim.
    pub network: Option<&'a Network>,
}

/// Imports all of `text`.
///
/// # Errors
/// Returns an [`InputError`] for the first defect that is not limited to a single flow.
pub fn read(
    mut text: impl BufRead,
    source: Source<'_>,
    options: &Options,
) -> Result<(ImportedFlows, Guess), InputError> {
    let head = head(&mut text, source.file)?;
    let guess = match source.format {
        Some(format) => Guess { format, from: None },
        None => guess_format(head, source.file)?,
    };
    let foreign = |&option: &ImportOption| !guess.format.has(option);
    let network = source.network.map(|_| ImportOption::Topology);
    if let Some(knob) = options.turned().chain(network).find(foreign) {
        let key = knob.flag();
        let what = format!("{key} has no meaning for the format {}", guess.format.name());
        return Err(InputError::new(source.file, None, "", what, format!("another format, or remove {key}")));
    }
    let text: &mut dyn BufRead = &mut text;
    let mut lines = Lines::new(text, source.file);
    let mut into = Collector::new(options);
    into.is_log = guess.format.is_log();
    match guess.format {
        Format::Hpcc => hpcc::read(&mut lines, &mut into, source.network)?,
        Format::Htsim => htsim::read(&mut lines, &mut into, (htsim::Unit::Picoseconds, source.network))?,
        Format::HtsimUs => htsim::read(&mut lines, &mut into, (htsim::Unit::Microseconds, source.network))?,
        Format::Yaps => yaps::read(&mut lines, &mut into)?,
        Format::Aequitas => aequitas::read(&mut lines, &mut into)?,
        Format::Coflow => coflow::read(&mut lines, &mut into)?,
        Format::Nfdump => nfdump::read(&mut lines, &mut into)?,
        Format::Zeek => zeek::read(&mut lines, &mut into)?,
        Format::Vpc => vpc::read(&mut lines, &mut into)?,
        Format::Goflow2 => goflow2::read(&mut lines, &mut into)?,
        Format::Sflow => sflow::read(&mut lines, &mut into)?,
        Format::Tshark => tshark::read(&mut lines, &mut into)?,
        Format::Goal => return Ok((job::read_goal(&mut lines, options)?, guess)),
        Format::Chakra => return Err(job::not_one_text(source.file)),
    }
    Ok((into.finish(&lines)?, guess))
}

/// Returns the beginning of a text, or an error if the bytes are not text.
fn head<'a>(text: &'a mut dyn BufRead, file: &str) -> Result<&'a [u8], InputError> {
    let fail = |what: String, fix: &str| InputError::new(file, None, "", what, fix);
    let head = text.fill_buf().map_err(|e| fail(format!("reading failed: {e}"), "Check the file"))?;
    match binary::kind(head) {
        Some(kind) => Err(fail(kind.what.to_owned(), kind.fix)),
        None => Ok(&head[..head.len().min(guess::LOOKED_AT)]),
    }
}

fn guess_format(head: &[u8], file: &str) -> Result<Guess, InputError> {
    guess::guess(head).map_err(|why| {
        let names: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
        let what = format!("the format cannot be detected: {why}");
        InputError::new(file, None, "", what, format!("one of {}", names.join(", ")))
    })
}
