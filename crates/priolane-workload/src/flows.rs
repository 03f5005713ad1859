//! A list of flows, in a file ([`super::flow_list`]) or in the experiment itself.

use std::sync::Arc;

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::ids::{Class, ConnectionId, FlowId, HostId};
use priolane_core::keys::{
    Bounds, Form, KeyConflict, KeyError, KeyValue, Keys, Schema, Tables, Value, Words, WrittenValue,
};
use priolane_core::part::Part;
use priolane_core::units::{Span, Time};
use priolane_source::{FLOW_LIST_LIMIT, InputError, Reader, Sources, of_seed};

use super::application::{Application, Deadlines, Listing, Lists};
use super::context::WorkloadContext;
use super::error::AppError;
use super::flow_list::{self, Row};
use super::listed::ListedFlows;
use super::load::{Load, LoadTable};
use super::payload::PayloadOrEndless;
use super::rescaling::{Factor, Rescaling, Scales};
use super::traffic::Traffic;

/// Default delay of notifications between hosts (docs/assumptions.md#flow-list-after).
const AFTER_DELAY: Span = Span::from_us(1);

/// A flow that the experiment lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keys)]
#[keys(group = "flow", check = Self::check)]
pub struct ListedFlow {
    /// The sending host.
    #[key(required = "src = 0")]
    pub src: HostId,
    /// The receiving host.
    #[key(required = "dst = 1")]
    pub dst: HostId,
    /// Payload bytes; `None` for a flow without end.
    #[key(required = "size = \"1MB\" or size = \"endless\"", form = PayloadOrEndless)]
    pub size: Option<u64>,
    /// Start time.
    #[key(default = Span::ZERO)]
    pub start: Span,
    /// Its class, 0 first.
    #[key(default = 0, range = "[0, 15]")]
    pub class: Class,
    /// Number of its equal-cost path if paths are pinned; `None` for a random path.
    #[key(optional, range = "[0, 65535]")]
    pub path: Option<u16>,
}

impl ListedFlow {
    fn check(&mut self) -> Result<(), KeyConflict> {
        if self.src == self.dst {
            return Err(KeyConflict::new("the flow goes from a host to itself", "two different hosts"));
        }
        Ok(())
    }

    fn row(&self) -> Row {
        let &Self { src, dst, size, start, class, path } = self;
        let flow = FlowSpec {
            id: FlowId(0),
            src,
            dst,
            size,
            start: Time(start.0),
            class,
            deadline: None,
            group: 0,
            entropy: 0,
            coflow: None,
            coflow_place: 0,
            weights: Weights::BEST_EFFORT,
            attained: 0,
            connection: None,
        };
        Row { flow, after: Vec::new(), delay: None, path }
    }
}

/// The source of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum List {
    /// A file; with `{seed}` in its path there is one per seed.
    Path {
        /// The path.
        path: String,
        /// The files with their texts once they are read; empty if the seeds are not known.
        texts: Vec<(String, Arc<str>)>,
    },
    /// The experiment itself.
    Inline(Vec<ListedFlow>),
}

impl KeyValue for List {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, bounds: &Bounds) -> Result<Self, KeyError> {
        match value {
            Value::Text(path) => Ok(Self::Path { path: (*path).to_owned(), texts: Vec::new() }),
            _ => Tables::read(value, bounds).map(Self::Inline),
        }
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Path { path, .. } => WrittenValue::Text(path.clone()),
            Self::Inline(flows) => Tables::write(flows),
        }
    }

    fn schema() -> Schema {
        Schema::AnyOf(vec![Schema::Text, <Tables as Form<Vec<ListedFlow>>>::schema()])
    }
}

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "flows", check = Self::check)]
#[part(name = "flows", summary = "the flows of a list", source = "docs/experiments.md")]
pub struct Flows {
    /// The list.
    #[key(required = "list = \"flows.csv\"")]
    pub list: List,
    /// Default notification delay for flows without a delay of their own; left out, 1 us.
    #[key(optional, range = "(0, )")]
    pub after_delay: Option<Span>,
    /// What starts are multiplied by; deadlines stay as long after them as they are.
    #[key(default = 1.0, skip_default, form = Factor)]
    pub time_scale: f64,
    /// What bytes of flows are multiplied by.
    #[key(default = 1.0, skip_default, form = Factor)]
    pub bytes_scale: f64,
    /// The load that the list offers over its own span, from its first start to its last, once its times are multiplied by
    /// what that takes; in place of `time_scale`.
    #[key(optional, shown = "as recorded", form = LoadTable)]
    pub load: Option<Load>,
    /// The connections that flows share: those of the list's column `connection`, or one for each pair of hosts.
    #[key(default = Connections::Listed, skip_default)]
    pub connections: Connections,
}

/// The connections that flows share. The flows of a connection are sent one after the other, with one congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Words)]
pub enum Connections {
    /// Those that the list states; the other flows have connections of their own.
    #[default]
    Listed,
    /// One from each host to each other host; flows without end have connections of their own.
    PerPair,
}

impl Application for Flows {
    fn open(&mut self, keys: &mut Reader<'_>, files: &mut Sources) -> Result<(), InputError> {
        if let (List::Path { path, texts }, Some(field)) = (&mut self.list, keys.take("list")) {
            files.read_for_seeds(&field, path, FLOW_LIST_LIMIT)?;
            *texts = files.texts(path);
        }
        match (self.waits(), keys.take("after_delay")) {
            (false, Some(field)) => {
                Err(field.error("no flow of the list depends on another", "Remove the key"))
            }
            (true, None) => {
                self.after_delay = Some(AFTER_DELAY);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        let rows: Vec<Row> = match &self.list {
            List::Inline(flows) => flows.iter().map(ListedFlow::row).collect(),
            List::Path { path, texts } => {
                let path = of_seed(path, site.seed);
                let text = texts.iter().find(|(of, _)| *of == path).map_or("", |(_, text)| text);
                if self.is_by_seed() && flow_list::has_no_flows(text) {
                    return Ok(Traffic::default());
                }
                flow_list::read_rows(text.as_bytes(), &path, site.rack.len() as u32).map_err(Box::new)?
            }
        };
        let scales = Scales { time: self.time_scale, bytes: self.bytes_scale, load: self.load };
        let mut rows = Rescaling::of(&scales, &rows, site)?.applied(rows)?;
        if self.connections == Connections::PerPair {
            let with_end = rows.iter_mut().filter(|row| row.flow.size.is_some() && !row.is_step());
            with_end.for_each(|row| row.flow.connection = ConnectionId::new(0));
        }
        ListedFlows::of(&rows, self.after_delay.unwrap_or(AFTER_DELAY)).traffic(site)
    }

    fn is_replay(&self) -> bool {
        true
    }

    fn notes(&self, _: u32) -> Result<Vec<String>, InputError> {
        let Self { bytes_scale, time_scale, load, .. } = self;
        let bytes =
            (*bytes_scale != 1.0).then(|| format!("flows have {bytes_scale} times the bytes of the list"));
        let times = (*time_scale != 1.0).then(|| format!("starts are {time_scale} times those of the list"));
        let to_load = load.map(|load| {
            format!(
                "starts of the list are scaled so that it offers a load of {} over its own span",
                load.value
            )
        });
        Ok(bytes.into_iter().chain(times).chain(to_load).collect())
    }

    fn listed(&self) -> Option<Listing> {
        let has_deadlines = |text: &str| text.lines().next().is_some_and(|head| head.contains("deadline_ns"));
        Some(match &self.list {
            List::Inline(flows) => Listing {
                top_class: flows.iter().map(|flow| flow.class).max().unwrap_or(0),
                deadlines: Deadlines::None,
                lists: Lists::One,
            },
            List::Path { texts, .. } => Listing {
                top_class: texts.iter().map(|(path, text)| top_class(path, text)).max().unwrap_or(0),
                deadlines: match texts.iter().any(|(_, text)| has_deadlines(text)) {
                    true => Deadlines::Some,
                    false => Deadlines::None,
                },
                lists: if self.is_by_seed() { Lists::BySeed } else { Lists::One },
            },
        })
    }

    fn shares_connections(&self) -> bool {
        let List::Path { texts, .. } = &self.list else { return self.connections == Connections::PerPair };
        let states = |(path, text): &(String, Arc<str>)| {
            flow_list::Reader::new(text.as_bytes(), path, 1).is_ok_and(|list| list.has_connections())
        };
        self.connections == Connections::PerPair || texts.iter().any(states)
    }

    fn states_paths(&self) -> bool {
        match &self.list {
            List::Inline(flows) => flows.iter().any(|flow| flow.path.is_some()),
            List::Path { texts, .. } => texts.iter().any(|(path, text)| {
                flow_list::Reader::new(text.as_bytes(), path, 1).is_ok_and(|list| list.has_paths())
            }),
        }
    }

    fn path_place(&self, place: usize, seed: u64) -> (&'static str, String) {
        let of = match &self.list {
            List::Inline(_) => format!("item {place} of the list"),
            List::Path { path, .. } => format!("row {place} of {}", of_seed(path, seed)),
        };
        ("list", of)
    }
}

impl Flows {
    fn check(&mut self) -> Result<(), KeyConflict> {
        let paths = matches!(&self.list, List::Inline(flows) if flows.iter().any(|flow| flow.path.is_some()));
        if paths && self.connections == Connections::PerPair {
            let what = "flows state paths, but all flows of a connection take that of its first";
            return Err(KeyConflict::of("connections", what, "connections or path"));
        }
        if self.load.is_some() && self.time_scale != 1.0 {
            let what = "time_scale is stated too, and a load asks for one of its own";
            return Err(KeyConflict::of("load", what, "load, or time_scale"));
        }
        Ok(())
    }

    /// Returns true if each seed has a list of its own. The group may then have no flow in some of them.
    fn is_by_seed(&self) -> bool {
        matches!(&self.list, List::Path { path, .. } if *of_seed(path, 1) != *path)
    }

    /// Returns true if flows may depend on others.
    fn waits(&self) -> bool {
        let List::Path { texts, .. } = &self.list else { return false };
        let has_waits = |(path, text): &(String, Arc<str>)| {
            flow_list::Reader::new(text.as_bytes(), path, 1).is_ok_and(|list| list.has_waits())
        };
        // If the seeds are unknown, no list has been read, and there may be dependencies.
        texts.is_empty() || texts.iter().any(has_waits)
    }
}

/// Returns the largest class in a flow list; errors in the list are reported when it is read for its flows.
fn top_class(path: &str, text: &str) -> Class {
    const ANY_HOST: u32 = 1 << 16;
    let rows = flow_list::Reader::new(text.as_bytes(), path, ANY_HOST);
    rows.map_or(0, |rows| rows.map_while(Result::ok).map(|flow| flow.class).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_flow_is_that_of_its_row_and_best_effort() {
        let listed = ListedFlow {
            src: HostId(3),
            dst: HostId(4),
            size: Some(5),
            start: Span(6),
            class: 7,
            path: Some(8),
        };
        let Row { flow, after, delay, path } = listed.row();
        let plain = FlowSpec::new(FlowId(0), (HostId(3), HostId(4)), Some(5));
        assert_eq!(flow, FlowSpec { start: Time(6), class: 7, ..plain });
        assert_eq!((after.len(), delay, path), (0, None, Some(8)));
    }
}
