//! Traces of YAPS: numbers separated by whitespace, no header.
//!
//! ```text
//! 0 1.000001 0 0 137 0 0 3 77            nine: id start_s - - packets - - src dst (its reader)
//! 0 1.000001 1.5 137 0.499999 0 3 77     eight: id start_s finish packets duration 0 src dst (its writer)
//! 0 200020 3 77 1000001                  five: id bytes src dst start_us (GEN_ONLY)
//! ```
//!
//! Packets are `mss` bytes (default 1460, docs/assumptions.md#import-yaps-mss).

use priolane_source::InputError;

use super::collect::{Collector, ParsedFlow, whole};
use super::options::Text;

/// The meaning of the columns of a trace.
struct Shape {
    start: usize,
    /// Unit of `start`, a second or a microsecond: 10^`power` ps.
    power: i32,
    size: usize,
    /// Bytes per unit of size.
    unit: u64,
    src: usize,
    dst: usize,
}

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let mss = u64::from(into.options().mss.unwrap_or(1460));
    let (mut line, mut width) = (String::new(), 0);
    while lines.next(&mut line)? {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let shape = match cells.len() {
            5 => Shape { start: 4, power: 6, size: 1, unit: 1, src: 2, dst: 3 },
            8 => Shape { start: 1, power: 12, size: 3, unit: mss, src: 6, dst: 7 },
            9 => Shape { start: 1, power: 12, size: 4, unit: mss, src: 7, dst: 8 },
            other => {
                return Err(lines.error("", format!("the row has {other} columns"), "5, 8 or 9 columns"));
            }
        };
        if into.rows == 0 {
            width = cells.len();
            if width != 5 {
                into.notes.push(format!("sizes are read as packets of {mss} bytes"));
            }
        }
        if cells.len() != width {
            let what = format!("the row has {} columns, but the rows before it have {width}", cells.len());
            return Err(lines.error("", what, "Check that the row is complete"));
        }
        into.rows += 1;
        let size = whole(lines, cells[shape.size], "a size")?;
        let bytes = size.saturating_mul(shape.unit);
        let (src, dst) = (into.host(lines, cells[shape.src])?, into.host(lines, cells[shape.dst])?);
        let start = into.time(lines, cells[shape.start], shape.power)?;
        into.take(lines, ParsedFlow { src, dst, size: Some(bytes), start, class: 0, coflow: None })?;
    }
    Ok(())
}
