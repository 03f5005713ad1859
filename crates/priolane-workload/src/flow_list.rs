//! Flow lists: `start_ns,src,dst,bytes[,class,deadline_ns,coflow,after,delay_ns,path,connection]`, one flow per row.
//!
//! Columns may be in any order. Times are nanoseconds with up to three decimals, so that picoseconds are exact;
//! `deadline_ns` is a time on the same clock as `start_ns`, not a duration
//! (docs/assumptions.md#flow-list-deadline). Hosts are numbers from 0. `bytes` is payload; `endless` is a flow
//! without end. An empty `class` is 0; an empty `deadline_ns` means no deadline. Rows need not be sorted.
//!
//! `coflow` is the number of the flow's coflow. `after` names the rows that it depends on by their numbers, from 0, such
//! as `3`, `3+7`, or `3@500+7@20` with a delay in nanoseconds after each. The flow starts when the last byte of each has
//! arrived and its delay has passed, and not before `start_ns` (docs/assumptions.md#flow-list-after). `delay_ns` is added to
//! the delays of all; where neither is stated, the delay is the app's `after_delay`. A notification between two hosts
//! takes time, so its delay is above zero.
//!
//! A row of 0 bytes from a host to itself is a step of that host: it takes `delay_ns` (none if the cell is empty) from the
//! last of `after` on, and no network. Rows that depend on a step begin at its host. Within a host, the delay before and
//! after a step is that of `@`, by default zero.
//!
//! `path` is the number, from 0, of the equal-cost path of the flow if paths are pinned
//! ([`priolane_sim::topology::Topology::equal_paths`]); an empty cell means a random path.
//!
//! `connection` is the name of the flow's connection: flows of equal name, source and destination are sent one after the
//! other with one congestion window. An empty cell is a connection of its own.

mod after;
mod row;

use std::collections::HashMap;
use std::io::{BufRead, Write};

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::ids::{CLASSES, Class, CoflowId, ConnectionId, FlowId, HostId};
use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::{Span, Time};
use priolane_source::InputError;
use priolane_source::csv::{Columns, Header, Lines, MAX_COLUMNS, shown};

use super::context::{LATEST_START, MAX_FLOWS};
use row::{Nanoseconds, digits, picoseconds};

pub use row::{After, Row};

const COLUMNS: Columns = Columns {
    names: &[
        "start_ns",
        "src",
        "dst",
        "bytes",
        "class",
        "deadline_ns",
        "coflow",
        "after",
        "delay_ns",
        "path",
        "connection",
    ],
    required: 4,
};

const _: () = assert!(COLUMNS.names.len() <= MAX_COLUMNS);

const CLASS: usize = 4;
const DEADLINE: usize = 5;
const COFLOW: usize = 6;
const AFTER: usize = 7;
const DELAY: usize = 8;
const PATH: usize = 9;
const CONNECTION: usize = 10;

/// Reads a flow list row by row, in the order of the file, without storing it.
///
/// The iterator ends after the first error. Only [`read_rows`] checks that the flows of `after` exist.
#[derive(Debug)]
pub struct Rows<R> {
    lines: Lines<R>,
    header: Option<Header>,
    line: String,
    hosts: u32,
    rows: u32,
    limit: u32,
    /// The numbers of connections by their names.
    connections: HashMap<String, ConnectionId>,
}

impl<R: BufRead> Rows<R> {
    /// Creates a reader of the list called `file` in messages, for a network of `hosts` hosts.
    ///
    /// # Errors
    /// Fails if the header is missing or not that of a flow list.
    pub fn new(reader: R, file: &str, hosts: u32) -> Result<Self, InputError> {
        let mut lines = Lines::new(reader, file);
        let header = Some(Header::read(&mut lines, COLUMNS, &|_| None)?);
        let (line, connections) = (String::new(), HashMap::new());
        Ok(Self { lines, header, line, hosts, rows: 0, limit: MAX_FLOWS, connections })
    }

    /// Returns an error about the size of the last flow read.
    fn size_error(&self, what: &str, fix: &str) -> InputError {
        self.lines.error(COLUMNS.names[3], what, fix)
    }

    fn row(&mut self) -> Result<Option<Row>, InputError> {
        let Some(header) = &self.header else { return Ok(None) };
        if !self.lines.next(&mut self.line)? {
            return match self.rows {
                0 => Err(self.lines.whole("the list has no flows", "at least one row")),
                _ => Ok(None),
            };
        }
        if self.rows == self.limit {
            let what = format!("the list has more than {} flows", self.limit);
            return Err(self.lines.error("", what, "Split the list"));
        }
        let cells = header.row(&self.lines, &self.line)?;
        let cells = Cells { lines: &self.lines, hosts: self.hosts, cells: &cells };
        let mut row = cells.row(FlowId(self.rows))?;
        row.flow.connection = numbered(&mut self.connections, cells.cells[CONNECTION]);
        self.rows += 1;
        Ok(Some(row))
    }
}

/// Returns the number of the connection of this name; `None` for an empty name.
fn numbered(connections: &mut HashMap<String, ConnectionId>, name: &str) -> Option<ConnectionId> {
    if name.is_empty() || connections.contains_key(name) {
        return connections.get(name).copied();
    }
    let number = ConnectionId::new(connections.len() as u32)?;
    connections.insert(name.to_owned(), number);
    Some(number)
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = Result<Row, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.row().transpose();
        if !matches!(row, Some(Ok(_))) {
            self.header = None;
        }
        row
    }
}

/// Reads the flows of a list row by row, in the order of the file, without storing it.
///
/// Flows have their row number as `id`, and group and entropy 0, until an app places them in a run. The iterator
/// ends after the first error. Steps are skipped, and dependencies on other rows are ignored.
#[derive(Debug)]
pub struct Reader<R>(Rows<R>);

impl<R: BufRead> Reader<R> {
    /// Creates a reader of the list called `file` in messages, for a network of `hosts` hosts.
    ///
    /// # Errors
    /// Fails if the header is missing or not that of a flow list.
    pub fn new(reader: R, file: &str, hosts: u32) -> Result<Self, InputError> {
        Rows::new(reader, file, hosts).map(Self)
    }

    /// Returns an error about the size of the last flow read.
    pub fn size_error(&self, what: &str, fix: &str) -> InputError {
        self.0.size_error(what, fix)
    }

    /// Returns true if the list has the column `after`.
    pub fn has_waits(&self) -> bool {
        self.0.header.as_ref().is_some_and(|header| header.has(AFTER))
    }

    /// Returns true if the list has the column `connection`.
    pub fn has_connections(&self) -> bool {
        self.0.header.as_ref().is_some_and(|header| header.has(CONNECTION))
    }

    /// Returns true if the list has the column `path`.
    pub fn has_paths(&self) -> bool {
        self.0.header.as_ref().is_some_and(|header| header.has(PATH))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<FlowSpec, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_flow = |row: &Result<Row, _>| row.as_ref().map_or(true, |row| !row.is_step());
        Some(self.0.by_ref().find(is_flow)?.map(|row| row.flow))
    }
}

/// Reads the flows of a list, in the order of the file, ignoring dependencies.
///
/// # Errors
/// Returns an [`InputError`] for the first defect: no header, a missing, unknown or duplicate column, an incomplete
/// row, a cell of the wrong type, a host that does not exist, `src` equal to `dst`, no bytes, a deadline before the
/// start, no rows, more than 50 million rows, a line above 64 KiB, bytes that are not text.
pub fn read(reader: impl BufRead, file: &str, hosts: u32) -> Result<Vec<FlowSpec>, InputError> {
    Reader::new(reader, file, hosts)?.collect()
}

/// Returns whether `text` is the header of a flow list and nothing else.
pub fn has_no_flows(text: &str) -> bool {
    let is_list = Reader::new(text.as_bytes(), "", 1).is_ok();
    is_list && text.lines().filter(|line| !line.trim().is_empty()).count() == 1
}

/// Reads the rows of a list, in the order of the file, including dependent flows and steps.
///
/// # Errors
/// Returns the errors of [`read`], and errors for rows that depend on rows that are not in the list, have no end, depend
/// on them in turn, or are on another host without a delay.
pub fn read_rows(reader: impl BufRead, file: &str, hosts: u32) -> Result<Vec<Row>, InputError> {
    let rows: Vec<Row> = Rows::new(reader, file, hosts)?.collect::<Result<_, _>>()?;
    after::check(&rows).map_err(|fault| {
        let what = format!("row {} {}", fault.row, fault.what);
        InputError::new(file, None, "after", what, fault.fix)
    })?;
    Ok(rows)
}

/// Writes a flow list that [`read`] can read back: all fields except `id`, `group` and `entropy`, which belong to
/// the run.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(out: &mut impl Write, flows: &[FlowSpec]) -> std::io::Result<()> {
    writeln!(out, "{}", COLUMNS.names[..COFLOW].join(","))?;
    for flow in flows {
        write!(out, "{},{},{},", Nanoseconds(flow.start), flow.src.0, flow.dst.0)?;
        match flow.size {
            Some(bytes) => write!(out, "{bytes}")?,
            None => write!(out, "endless")?,
        }
        write!(out, ",{},", flow.class)?;
        match flow.deadline {
            Some(deadline) => writeln!(out, "{}", Nanoseconds(deadline))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// An optional column of a written list, besides the four that are always written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionalColumn {
    /// `class`.
    Class,
    /// `coflow`.
    Coflow,
    /// `after` and `delay_ns`.
    After,
    /// `deadline_ns`.
    Deadline,
    /// `group`: the number of the flow's group. It is for programs that part lists by group; [`read_rows`] refuses it.
    Group,
}

/// Writes a flow list row by row that [`read_rows`] can read back, with the columns requested.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    extras: Vec<OptionalColumn>,
}

impl<W: Write> Writer<W> {
    /// Begins a list on `out`.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn new(mut out: W, extras: &[OptionalColumn]) -> std::io::Result<Self> {
        write!(out, "start_ns,src,dst,bytes")?;
        for extra in extras {
            write!(
                out,
                ",{}",
                match extra {
                    OptionalColumn::Class => "class",
                    OptionalColumn::Coflow => "coflow",
                    OptionalColumn::After => "after,delay_ns",
                    OptionalColumn::Deadline => "deadline_ns",
                    OptionalColumn::Group => "group",
                }
            )?;
        }
        writeln!(out)?;
        Ok(Self { out, extras: extras.to_vec() })
    }

    /// Writes a row; values without a column are omitted.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn row(&mut self, row: &Row) -> std::io::Result<()> {
        let Row { flow, after, delay, .. } = row;
        let out = &mut self.out;
        write!(out, "{},{},{},", Nanoseconds(flow.start), flow.src.0, flow.dst.0)?;
        match flow.size {
            Some(bytes) => write!(out, "{bytes}")?,
            None => write!(out, "endless")?,
        }
        for extra in &self.extras {
            match (extra, flow.coflow) {
                (OptionalColumn::Class, _) => write!(out, ",{}", flow.class)?,
                (OptionalColumn::Coflow, Some(coflow)) => write!(out, ",{}", coflow.number())?,
                (OptionalColumn::Coflow, None) => write!(out, ",")?,
                (OptionalColumn::Group, _) => write!(out, ",{}", flow.group)?,
                (OptionalColumn::Deadline, _) => {
                    write!(out, ",")?;
                    flow.deadline.iter().try_for_each(|&at| write!(out, "{}", Nanoseconds(at)))?;
                }
                (OptionalColumn::After, _) => {
                    write!(out, ",{},", after::JoinedRows(after))?;
                    delay.iter().try_for_each(|delay| write!(out, "{}", Nanoseconds(Time(delay.0))))?;
                }
            }
        }
        writeln!(out)
    }
}

/// The cells of a row, in the order of `COLUMNS`.
struct Cells<'a, R> {
    lines: &'a Lines<R>,
    hosts: u32,
    cells: &'a [&'a str],
}

impl<R: BufRead> Cells<'_, R> {
    fn row(&self, id: FlowId) -> Result<Row, InputError> {
        let flow = self.flow(id)?;
        let after = after::rows(self.cells[AFTER]).map_err(|item| {
            let what = match item == self.cells[AFTER] {
                true => format!("{} does not name rows", shown(item)),
                false => format!("{} does not name rows: see {}", shown(self.cells[AFTER]), shown(item)),
            };
            self.error(
                AFTER,
                what,
                "row numbers from 0, joined by +, such as 3+7, or 3@500+7@20 with delays in ns",
            )
        })?;
        let delay = if self.cells[DELAY].is_empty() { None } else { Some(Span(self.time(DELAY)?.0)) };
        let is_step = flow.size == Some(0);
        if after.is_empty() && delay.is_some() && !is_step {
            return Err(self.error(
                DELAY,
                "the flow depends on no other row",
                "rows in `after`, or a later start",
            ));
        }
        if is_step {
            self.refuse_flow_columns()?;
        }
        self.check_connection(flow.size)?;
        Ok(Row { flow, after, delay, path: self.path()? })
    }

    /// Refuses what a step does not have.
    fn refuse_flow_columns(&self) -> Result<(), InputError> {
        let is_plain =
            |column: usize| self.cells[column].is_empty() || (column == CLASS && self.cells[column] == "0");
        match [CLASS, DEADLINE, COFLOW, PATH, CONNECTION].into_iter().find(|&column| !is_plain(column)) {
            Some(column) => {
                Err(self.error(column, "the row is a step: it takes no network", "an empty cell"))
            }
            None => Ok(()),
        }
    }

    /// Refuses a connection of which the flow cannot be a part.
    fn check_connection(&self, size: Option<u64>) -> Result<(), InputError> {
        if self.cells[CONNECTION].is_empty() {
            return Ok(());
        }
        if size.is_none() {
            let what = "the flow has no end, so no other flow of its connection would ever be sent";
            return Err(self.error(CONNECTION, what, "an empty cell, or a number of bytes"));
        }
        if !self.cells[PATH].is_empty() {
            let what = "the flow states a path, but all flows of a connection take that of its first";
            return Err(self.error(CONNECTION, what, "an empty cell here or in `path`"));
        }
        Ok(())
    }

    fn path(&self) -> Result<Option<u16>, InputError> {
        if self.cells[PATH].is_empty() {
            return Ok(None);
        }
        let number = self.whole(PATH)?;
        let path = u16::try_from(number).map_err(|_| {
            self.error(
                PATH,
                format!("the path number {number} is out of range"),
                "a path number from 0 to 65535",
            )
        })?;
        Ok(Some(path))
    }

    fn coflow(&self) -> Result<Option<CoflowId>, InputError> {
        if self.cells[COFLOW].is_empty() {
            return Ok(None);
        }
        let number = self.whole(COFLOW)?;
        let what = || format!("{number} is too large");
        let coflow = u32::try_from(number).ok().and_then(CoflowId::new);
        coflow.map(Some).ok_or_else(|| self.error(COFLOW, what(), "coflow numbers below 2^32 - 1"))
    }

    fn flow(&self, id: FlowId) -> Result<FlowSpec, InputError> {
        let start = self.time(0)?;
        let (src, dst) = (self.host(1)?, self.host(2)?);
        if src == dst && digits(self.cells[3]) != Some(0) {
            return Err(self.error(
                2,
                "the flow goes from a host to itself",
                "two different hosts, or 0 bytes for a step",
            ));
        }
        let deadline = if self.cells[5].is_empty() { None } else { Some(self.time(5)?) };
        if deadline.is_some_and(|deadline| deadline <= start) {
            let fix = "an instant on the clock of start_ns that is after it";
            return Err(self.error(5, "the deadline is not after the start", fix));
        }
        let size = if src == dst { Some(0) } else { self.size()? };
        let (class, coflow) = (self.class()?, self.coflow()?);
        Ok(FlowSpec {
            id,
            src,
            dst,
            size,
            start,
            class,
            deadline,
            group: 0,
            entropy: 0,
            coflow,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
            attained: 0,
            connection: None,
        })
    }

    fn time(&self, column: usize) -> Result<Time, InputError> {
        let cell = self.cells[column];
        let time = picoseconds(cell).ok_or_else(|| {
            let what = format!("{} is not a time", shown(cell));
            self.error(column, what, "nanoseconds with at most three decimals, such as 1500 or 0.125")
        })?;
        if time > LATEST_START {
            return Err(self.error(column, "the time is above 26 days", "nanoseconds"));
        }
        Ok(time)
    }

    fn host(&self, column: usize) -> Result<HostId, InputError> {
        let number = self.whole(column)?;
        let known = u16::try_from(number).ok().filter(|&host| u32::from(host) < self.hosts);
        known.map(HostId).ok_or_else(|| {
            let fix = format!("a host from 0 to {}", self.hosts.saturating_sub(1));
            self.error(column, format!("unknown host {number}"), fix)
        })
    }

    fn size(&self) -> Result<Option<u64>, InputError> {
        if self.cells[3] == "endless" {
            return Ok(None);
        }
        match self.whole(3)? {
            0 => Err(self.error(
                3,
                "the flow has no bytes",
                "at least 1 byte, endless, or src = dst for a step",
            )),
            bytes if bytes > MAX_BYTES as u64 => {
                Err(self.error(3, "the flow is larger than 2^47 bytes", "endless for a flow without end"))
            }
            bytes => Ok(Some(bytes)),
        }
    }

    fn class(&self) -> Result<Class, InputError> {
        if self.cells[4].is_empty() {
            return Ok(0);
        }
        let number = self.whole(4)?;
        if number >= CLASSES as u64 {
            return Err(self.error(4, format!("unknown class {number}"), "a class from 0 to 15, 0 first"));
        }
        Ok(number as Class)
    }

    fn whole(&self, column: usize) -> Result<u64, InputError> {
        let cell = self.cells[column];
        row::whole(cell).ok_or_else(|| {
            self.error(column, format!("{} is not a whole number", shown(cell)), "digits only")
        })
    }

    fn error(&self, column: usize, what: impl Into<String>, fix: impl Into<String>) -> InputError {
        self.lines.error(COLUMNS.names[column], what, fix)
    }
}

#[cfg(test)]
mod tests;
