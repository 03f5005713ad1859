//! The common part of all importers: collects flows between external names, counts dropped flows by reason, and
//! builds the list.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::ids::{CoflowId, FlowId, HostId};
use priolane_core::sizes::MAX_BYTES;
use priolane_core::units::Time;
use priolane_source::InputError;
use priolane_source::csv::shown;

use super::clocks::{Clocks, Dated, Instant};
use super::decimal;
pub(super) use super::imported::MAX_HOSTS;
use super::imported::{DroppedFlows, HostFolding, ImportedFlows, Opening, Recording};
use super::options::{Options, Start, Text};
use crate::context::LATEST_START;
use crate::flow_list::{After, Row};

/// Maximum number of flows, and of flow records, in an import: less than 1 GiB of memory.
pub(crate) const MAX_IMPORTED: usize = 8_000_000;

/// Maximum number of external names that are folded onto hosts.
const MAX_NAMES: usize = 1 << 20;

/// The name of a flow's end in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// A number.
    Number(u32),
    /// An address.
    Address(IpAddr),
}

/// An index that represents a [`Name`] while a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End(pub(super) u32);

/// A flow as found by an importer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParsedFlow {
    pub(super) src: End,
    pub(super) dst: End,
    /// Bytes; `None` for a flow without end.
    pub(super) size: Option<u64>,
    /// Picoseconds on the file's clock.
    pub(super) start: u128,
    pub(super) class: u8,
    pub(super) coflow: Option<CoflowId>,
}

impl ParsedFlow {
    /// Returns the bytes of the flow, 0 if it has no end.
    pub(super) fn bytes(&self) -> u64 {
        self.size.unwrap_or(0)
    }
}

/// A collected flow, with its start relative to that of the first row.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredFlow {
    pub(super) start: i64,
    size: Option<u64>,
    src: End,
    dst: End,
    coflow: Option<CoflowId>,
    class: u8,
    /// The number of the base of its start.
    pub(super) base: u8,
}

/// The data collected so far.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    options: &'a Options,
    clocks: Clocks,
    /// Whether the file is a log, in which a clock may be wrong.
    pub(super) is_log: bool,
    held: Vec<StoredFlow>,
    names: BTreeMap<Name, End>,
    after: BTreeMap<usize, Rc<[usize]>>,
    dropped: BTreeMap<&'static str, (u64, u128)>,
    /// The hosts of the network, if the file states them: their numbers in the file, in order.
    hosts: Option<Vec<u32>>,
    /// Number of rows read.
    pub(super) rows: u64,
    /// Number of records merged into the flow of another record.
    pub(super) merged: u64,
    /// Number of times that were finer than a picosecond.
    rounded: u64,
    /// The properties of the file as a recording.
    pub(super) recording: Recording,
    /// Other notes for the user.
    pub(super) notes: Vec<String>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        Self {
            options,
            clocks: Clocks::default(),
            is_log: false,
            held: Vec::new(),
            names: BTreeMap::new(),
            after: BTreeMap::new(),
            dropped: BTreeMap::new(),
            hosts: None,
            rows: 0,
            merged: 0,
            rounded: 0,
            recording: Recording { sampling: options.sampling, ..Recording::default() },
            notes: Vec::new(),
        }
    }

    /// Returns the user's options.
    pub(super) fn options(&self) -> &'a Options {
        self.options
    }

    /// Sets the numbers that are hosts, in the order in which hosts are numbered.
    pub(super) fn set_hosts(&mut self, numbers: Vec<u32>) {
        self.hosts = Some(numbers);
    }

    /// Returns the index of the end called `name`.
    pub(super) fn end(&mut self, lines: &Text<'_>, name: Name) -> Result<End, InputError> {
        if let Some(&end) = self.names.get(&name) {
            return Ok(end);
        }
        let known = match (name, &self.hosts) {
            (Name::Number(number), Some(hosts)) => hosts.binary_search(&number).is_ok(),
            (Name::Number(number), None) => self.options.hosts.is_some() || u64::from(number) < MAX_HOSTS,
            (Name::Address(_), _) => true,
        };
        if let (false, Name::Number(number)) = (known, name) {
            let fix = if self.hosts.is_some() {
                "hosts of the network"
            } else {
                "hosts from 0 to 65535, or --hosts N to fold them"
            };
            return Err(lines.error("", format!("unknown host {number}"), fix));
        }
        let most = if self.options.hosts.is_some() { MAX_NAMES } else { MAX_HOSTS as usize };
        if self.names.len() == most {
            let fix = "--hosts N to fold them onto N hosts, or a part of the file";
            return Err(lines.error("", format!("there are more than {most} hosts"), fix));
        }
        let end = End(self.names.len() as u32);
        self.names.insert(name, end);
        Ok(end)
    }

    /// Parses a host number of the file.
    pub(super) fn host(&mut self, lines: &Text<'_>, cell: &str) -> Result<End, InputError> {
        let number = whole(lines, cell, "a host number")?;
        let what = || format!("unknown host {number}");
        let number = u32::try_from(number).map_err(|_| lines.error("", what(), "hosts from 0 to 65535"))?;
        self.end(lines, Name::Number(number))
    }

    /// Parses a decimal number in units of `10^power` picoseconds.
    pub(super) fn time(&mut self, lines: &Text<'_>, cell: &str, power: i32) -> Result<u128, InputError> {
        self.try_time(cell, power).ok_or_else(|| {
            let what = format!("{} is not a time", shown(cell));
            lines.error("", what, "a decimal number of at least 0, such as 2.000001")
        })
    }

    /// As [`Self::time`], for files that may contain other values.
    pub(super) fn try_time(&mut self, cell: &str, power: i32) -> Option<u128> {
        let scaled = decimal::scaled(cell, power).filter(|scaled| scaled.value >> 100 == 0)?;
        self.rounded += u64::from(!scaled.exact);
        Some(scaled.value)
    }

    /// Returns why a flow cannot be listed, if it cannot.
    pub(super) fn fault(found: &ParsedFlow) -> Option<&'static str> {
        if found.size == Some(0) {
            return Some("no bytes");
        }
        if found.bytes() > MAX_BYTES as u64 {
            return Some("more than 2^47 bytes");
        }
        if found.src == found.dst { Some("source and destination are the same host") } else { None }
    }

    /// Counts a listed flow that its file shows from its beginning, or not.
    pub(super) fn opened(&mut self, opening: Opening) {
        if opening != Opening::Unstated {
            *self.recording.midstream.get_or_insert(0) += u64::from(opening == Opening::Missing);
        }
    }

    /// Counts a dropped flow.
    pub(super) fn drop(&mut self, reason: &'static str, bytes: u64) {
        let (count, sum) = self.dropped.entry(reason).or_default();
        *count += 1;
        *sum += u128::from(bytes);
    }

    /// Adds a flow and returns its index, or drops it because of its [`Self::fault`].
    pub(super) fn take(&mut self, lines: &Text<'_>, found: ParsedFlow) -> Result<Option<usize>, InputError> {
        if let Some(reason) = Self::fault(&found) {
            self.drop(reason, found.bytes());
            return Ok(None);
        }
        let (from, until) = (self.options.from, self.options.until);
        if from.is_some_and(|from| found.start < from) {
            self.drop("the flow starts before --from", found.bytes());
            return Ok(None);
        }
        if until.is_some_and(|until| found.start >= until) {
            self.drop("the flow does not start before --until", found.bytes());
            return Ok(None);
        }
        if self.held.len() == MAX_IMPORTED {
            return Err(too_many(lines));
        }
        let Instant { base, apart: start } = self.instant(lines, found.start)?;
        let ParsedFlow { src, dst, size, class, coflow, .. } = found;
        self.held.push(StoredFlow { start, size, src, dst, coflow, class, base });
        Ok(Some(self.held.len() - 1))
    }

    /// Returns a time relative to a base.
    ///
    /// # Errors
    /// Returns an error for a time that is far from that of the first call, unless the file is a log.
    pub(super) fn instant(&mut self, lines: &Text<'_>, time: u128) -> Result<Instant, InputError> {
        let instant = self.clocks.place(time);
        if self.is_log || instant.base == 0 {
            return Ok(instant);
        }
        Err(lines.error("", "flows are more than 26 days apart", "Import a part of the file"))
    }

    /// Returns the time for which [`Self::instant`] returned `instant`.
    pub(super) fn absolute(&self, instant: Instant) -> u128 {
        self.clocks.time(instant)
    }

    /// Drops flows of a log whose start is far from that of most others.
    fn drop_far_flows(&mut self) {
        if !self.is_log {
            return;
        }
        let reason = "the start is more than 26 days from that of most flows";
        let far = self.clocks.keep_most(&mut self.held);
        far.iter().for_each(|held| self.drop(reason, held.size.unwrap_or(0)));
    }

    /// Records that the flow at index `place` depends on those at `others`.
    pub(super) fn wait(&mut self, place: usize, others: Rc<[usize]>) {
        self.after.insert(place, others);
    }

    /// Builds the list of all collected flows.
    pub(super) fn finish(mut self, lines: &Text<'_>) -> Result<ImportedFlows, InputError> {
        self.drop_far_flows();
        let mut hosts = self.host_numbers(lines)?;
        self.drop_self_flows(lines, &hosts)?;
        if self.held.is_empty() {
            let why: Vec<String> =
                self.dropped.iter().map(|(reason, (count, _))| format!("{reason} ({count})")).collect();
            let why = if why.is_empty() { "it has no flows".to_owned() } else { why.join(", ") };
            return Err(lines.whole(
                format!("no flow of the file can be imported: {why}"),
                "Check the format and the file",
            ));
        }
        let (rows, first_start_ps) = self.ordered(lines, &hosts)?;
        let dropped =
            self.dropped.iter().map(|(&reason, &(count, bytes))| DroppedFlows { reason, count, bytes });
        hosts.names.sort_by_key(|&(name, _)| name);
        let names = hosts.names.iter().map(|&(name, host)| (spelled(name), host)).collect();
        Ok(ImportedFlows {
            rows,
            names,
            hosts: hosts.count,
            fold: hosts.fold,
            read: self.rows,
            merged: self.merged,
            dropped: dropped.collect(),
            first_start_ps,
            rounded: self.rounded,
            tick_ps: self.tick(),
            spread_ps: self.options.spread.map_or(0, |span| span.0),
            recording: self.recording,
            notes: self.notes,
            job: None,
        })
    }

    /// Assigns a host to each name: its index among the file's hosts, its own number, or its rank among addresses;
    /// modulo the number of hosts, if the user set one.
    fn host_numbers(&self, lines: &Text<'_>) -> Result<Hosts, InputError> {
        let mut names = Vec::with_capacity(self.names.len());
        let mut of_end = vec![HostId(0); self.names.len()];
        let place = |rank: usize, name: Name| match (name, &self.hosts) {
            (Name::Number(number), Some(hosts)) => hosts.binary_search(&number).unwrap_or(rank) as u32,
            (Name::Number(number), None) => number,
            (Name::Address(_), _) => rank as u32,
        };
        let largest = self.names.keys().enumerate().map(|(rank, &name)| place(rank, name)).max().unwrap_or(0);
        let outside = self.hosts.as_ref().map_or(u64::from(largest) + 1, |hosts| hosts.len() as u64);
        let fold =
            self.options.hosts.filter(|&to| u64::from(to) < outside).map(|to| HostFolding::new(outside, to));
        let count = self.options.hosts.map_or(outside, u64::from);
        if count > MAX_HOSTS {
            return Err(
                lines.whole(format!("there would be {count} hosts"), "--hosts N with N at most 65536")
            );
        }
        for (rank, (&name, &end)) in self.names.iter().enumerate() {
            let host = HostId((u64::from(place(rank, name)) % count) as u16);
            of_end[end.0 as usize] = host;
            names.push((name, host));
        }
        Ok(Hosts { names, of_end, count: count as u32, fold })
    }

    /// Drops flows whose source and destination became the same host.
    fn drop_self_flows(&mut self, lines: &Text<'_>, hosts: &Hosts) -> Result<(), InputError> {
        if hosts.fold.is_none() {
            return Ok(());
        }
        if !self.after.is_empty() {
            let fix = "Remove --hosts: a flow that depends on a dropped flow would never start";
            return Err(lines.whole("flows that depend on others cannot be folded", fix));
        }
        let (kept, local): (Vec<StoredFlow>, Vec<StoredFlow>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| hosts.of(held.src) != hosts.of(held.dst));
        local
            .iter()
            .for_each(|held| self.drop("source and destination fold onto one host", held.size.unwrap_or(0)));
        self.held = kept;
        Ok(())
    }

    /// Returns the rows in order of start, and the first start on the file's clock.
    fn ordered(&self, lines: &Text<'_>, hosts: &Hosts) -> Result<(Vec<Row>, u128), InputError> {
        let starts = (0..self.held.len()).filter(|place| !self.after.contains_key(place));
        let first = starts.map(|place| self.held[place].start).min().unwrap_or(0);
        let start_of = |place: usize| {
            if self.after.contains_key(&place) { first } else { self.held[place].start }
        };
        let mut order: Vec<usize> = (0..self.held.len()).collect();
        order.sort_by_key(|&place| (start_of(place), place));
        let mut row_of = vec![FlowId(0); order.len()];
        for (row, &place) in (0..).zip(&order) {
            row_of[place] = FlowId(row);
        }
        let first_start = self.clocks.listed(first);
        let origin = match self.options.start {
            Start::First(start) => u128::from(start.0),
            Start::Keep => first_start,
        };
        let spread = self.spread(&order, &start_of);
        let mut rows = Vec::with_capacity(order.len());
        for (row, &place) in (0..).zip(&order) {
            let held = self.held[place];
            let start =
                origin + (i128::from(start_of(place)) - i128::from(first)) as u128 + u128::from(spread(row));
            let Some(start) = u64::try_from(start).ok().filter(|&start| start <= LATEST_START.0) else {
                let fix = "Remove --start keep, or import a part of the file";
                return Err(lines.whole("a flow would start after more than 26 days", fix));
            };
            let id = FlowId(row as u32);
            let mut after: Vec<FlowId> = self
                .after
                .get(&place)
                .map_or(Vec::new(), |others| others.iter().map(|&o| row_of[o]).collect());
            after.sort_unstable();
            rows.push(held.row(id, Time(start), hosts, &after));
        }
        Ok((rows, first_start))
    }

    /// Returns the coarsest power of ten of which all starts on the file's clock are multiples, at most a second.
    fn tick(&self) -> u64 {
        let mut tick = 1_000_000_000_000;
        for place in (0..self.held.len()).filter(|place| !self.after.contains_key(place)) {
            while !self.clocks.listed(self.held[place].start).is_multiple_of(u128::from(tick)) {
                tick /= 10;
            }
        }
        tick
    }

    /// Returns the additional delay of each row that spreads flows with equal start times evenly over the requested
    /// span.
    fn spread<'b>(
        &self,
        order: &'b [usize],
        start_of: &'b dyn Fn(usize) -> i64,
    ) -> impl Fn(usize) -> u64 + 'b {
        let mut places = Vec::new();
        if let Some(span) = self.options.spread {
            for group in order.chunk_by(|&a, &b| start_of(a) == start_of(b)) {
                let share = |nth: usize| (u128::from(span.0) * nth as u128 / group.len() as u128) as u64;
                places.extend((0..group.len()).map(share));
            }
        }
        move |row| places.get(row).copied().unwrap_or(0)
    }
}

impl Dated for StoredFlow {
    fn start(&self) -> Instant {
        Instant { base: self.base, apart: self.start }
    }

    fn set_start(&mut self, apart: i64) {
        self.start = apart;
    }
}

impl StoredFlow {
    fn row(self, id: FlowId, start: Time, hosts: &Hosts, after: &[FlowId]) -> Row {
        let flow = FlowSpec {
            id,
            src: hosts.of(self.src),
            dst: hosts.of(self.dst),
            size: self.size,
            start,
            class: self.class,
            deadline: None,
            group: 0,
            entropy: 0,
            coflow: self.coflow,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
            attained: 0,
            connection: None,
        };
        Row { flow, after: after.iter().copied().map(After::row).collect(), delay: None, path: None }
    }
}

/// The mapping from names to hosts.
struct Hosts {
    names: Vec<(Name, HostId)>,
    of_end: Vec<HostId>,
    count: u32,
    fold: Option<HostFolding>,
}

impl Hosts {
    fn of(&self, end: End) -> HostId {
        self.of_end[end.0 as usize]
    }
}

fn spelled(name: Name) -> String {
    match name {
        Name::Number(number) => number.to_string(),
        Name::Address(address) => address.to_string(),
    }
}

/// Returns the error for an import that is too large.
pub(super) fn too_many(lines: &Text<'_>) -> InputError {
    lines.error("", format!("there are more than {MAX_IMPORTED} flows"), "Import a part of the file")
}

/// Parses a whole number without a sign; `what` describes it in the message.
pub(super) fn whole(lines: &Text<'_>, cell: &str, what: &str) -> Result<u64, InputError> {
    digits(cell).ok_or_else(|| lines.error("", format!("{} is not {what}", shown(cell)), "digits only"))
}

/// Parses a number of digits only; `None` if it is not one or above `u64::MAX`.
pub(super) fn digits(cell: &str) -> Option<u64> {
    if cell.bytes().all(|byte| byte.is_ascii_digit()) { cell.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_no_sum_can_hold_are_none_and_rounded_ones_are_counted() {
        let options = Options::default();
        let mut into = Collector::new(&options);
        // 2^100 is 1267650600228229401496703205376.
        assert_eq!(into.try_time("1267650600228229401496703205375", 0), Some((1 << 100) - 1));
        assert_eq!(into.try_time("1267650600228229401496703205376", 0), None);
        assert_eq!(into.rounded, 0);
        assert_eq!((into.try_time("0.24", 1), into.rounded), (Some(2), 1));
        assert_eq!((into.try_time("2.000001", 12), into.rounded), (Some(2_000_001_000_000), 1));
    }
}
