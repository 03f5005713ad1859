//! Traces of Aequitas' YAPS: `priority,size_bytes,start_s,src,dst`.
//!
//! Priorities are 2 (latency), 1 (batch) and 0 (best effort): classes 0, 1 and 2
//! (docs/assumptions.md#import-aequitas-class). Rows with other priorities are dropped, as in the simulator.

use priolane_source::InputError;

use super::collect::{Collector, ParsedFlow, whole};
use super::options::Text;

pub(super) fn read(lines: &mut Text<'_>, into: &mut Collector<'_>) -> Result<(), InputError> {
    let mut line = String::new();
    while lines.next(&mut line)? {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[priority, bytes, start, src, dst] = &cells[..] else {
            let what = format!("the row has {} columns", cells.len());
            return Err(lines.error("", what, "priority,size_bytes,start_s,src,dst"));
        };
        if into.rows == 0 && priority == "priority" {
            continue;
        }
        into.rows += 1;
        let bytes = whole(lines, bytes, "a number of bytes")?;
        let class = match priority {
            "2" => 0,
            "1" => 1,
            "0" => 2,
            _ => {
                into.drop("the priority is not 0, 1 or 2", bytes);
                continue;
            }
        };
        let (src, dst) = (into.host(lines, src)?, into.host(lines, dst)?);
        let start = into.time(lines, start, 12)?;
        into.take(lines, ParsedFlow { src, dst, size: Some(bytes), start, class, coflow: None })?;
    }
    Ok(())
}
