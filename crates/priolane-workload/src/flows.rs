//! A list of flows, in a file ([`super::flow_list`]) or in the experiment itself.

use std::sync::Arc;

use priolane_core::endpoint::{FlowSpec, Weights};
use priolane_core::ids::{Class, FlowId, HostId};
use priolane_core::keys::{Bounds, Form, KeyError, KeyValue, Keys, Misfit, Schema, Tables, Value, Written};
use priolane_core::part::Part;
use priolane_core::units::{Span, Time};
use priolane_source::{FLOW_LIST_LIMIT, InputError, Reader, Sources, of_seed};

use super::application::{Application, Deadlines, Listing, Lists};
use super::context::WorkloadContext;
use super::error::AppError;
use super::flow_list::{self, Row};
use super::listed::Listed;
use super::payload::PayloadOrEndless;
use super::traffic::Traffic;

/// How long news takes between hosts where nothing says it (docs/assumptions.md#flow-list-after).
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
    /// When it starts.
    #[key(default = Span::ZERO)]
    pub start: Span,
    /// Its class, 0 first.
    #[key(default = 0, range = "[0, 15]")]
    pub class: Class,
    /// The number of the equal-cost path that it takes, where paths are pinned; `None` draws it.
    #[key(optional, range = "[0, 65535]")]
    pub path: Option<u16>,
}

impl ListedFlow {
    fn check(&mut self) -> Result<(), Misfit> {
        if self.src == self.dst {
            return Err(Misfit::new("the flow goes from a host to itself", "two different hosts"));
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
        };
        Row { flow, after: Vec::new(), delay: None, path }
    }
}

/// Where a list is.
#[derive(Clone, Debug, PartialEq)]
pub enum List {
    /// In a file; with `{seed}` in its path there is one for each seed.
    Path {
        /// The path.
        path: String,
        /// The files with their texts, once they are read; none where the seeds are not known.
        texts: Vec<(String, Arc<str>)>,
    },
    /// In the experiment itself.
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

    fn write(&self) -> Written {
        match self {
            Self::Path { path, .. } => Written::Text(path.clone()),
            Self::Inline(flows) => Tables::write(flows),
        }
    }

    fn schema() -> Schema {
        <Tables as Form<Vec<ListedFlow>>>::schema()
    }
}

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "flows")]
#[part(name = "flows", summary = "the flows of a list", source = "docs/experiments.md")]
pub struct Flows {
    /// The list.
    #[key(required = "list = \"flows.csv\"")]
    pub list: List,
    /// How long news takes of which the list does not say it; `None` if no flow of it waits.
    #[key(optional, range = "(0, )")]
    pub after_delay: Option<Span>,
}

impl Application for Flows {
    fn open(&mut self, keys: &mut Reader<'_>, files: &mut Sources) -> Result<(), InputError> {
        if let (List::Path { path, texts }, Some(field)) = (&mut self.list, keys.take("list")) {
            files.read_for_seeds(&field, path, FLOW_LIST_LIMIT)?;
            *texts = files.texts(path);
        }
        match (self.waits(), keys.take("after_delay")) {
            (false, Some(field)) => {
                Err(field.error("no flow of the list waits for another", "leave the key out"))
            }
            (true, None) => {
                self.after_delay = Some(AFTER_DELAY);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError> {
        let rows = match &self.list {
            List::Inline(flows) => flows.iter().map(ListedFlow::row).collect(),
            List::Path { path, texts } => {
                let path = of_seed(path, site.seed);
                let text = texts.iter().find(|(of, _)| *of == path).map_or("", |(_, text)| text);
                flow_list::read_rows(text.as_bytes(), &path, site.rack.len() as u32).map_err(Box::new)?
            }
        };
        Listed::of(&rows, self.after_delay.unwrap_or(AFTER_DELAY)).traffic(site)
    }

    fn is_replay(&self) -> bool {
        true
    }

    fn listed(&self) -> Option<Listing> {
        let has_deadlines = |text: &str| text.lines().next().is_some_and(|head| head.contains("deadline_ns"));
        Some(match &self.list {
            List::Inline(flows) => Listing {
                top_class: flows.iter().map(|flow| flow.class).max().unwrap_or(0),
                deadlines: Deadlines::None,
                lists: Lists::One,
            },
            List::Path { path, texts } => Listing {
                top_class: texts.iter().map(|(path, text)| top_class(path, text)).max().unwrap_or(0),
                deadlines: match texts.iter().any(|(_, text)| has_deadlines(text)) {
                    true => Deadlines::Some,
                    false => Deadlines::None,
                },
                lists: if *of_seed(path, 1) == *path { Lists::One } else { Lists::BySeed },
            },
        })
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
    /// Whether flows may wait for others.
    fn waits(&self) -> bool {
        let List::Path { texts, .. } = &self.list else { return false };
        let has_waits = |(path, text): &(String, Arc<str>)| {
            flow_list::Reader::new(text.as_bytes(), path, 1).is_ok_and(|list| list.has_waits())
        };
        // Of no list it is not known, where the seeds are not.
        texts.is_empty() || texts.iter().any(has_waits)
    }
}

/// The largest class in a flow list; what is wrong with the list is found where it is read for its flows.
fn top_class(path: &str, text: &str) -> Class {
    const ANY_HOST: u32 = 1 << 16;
    let rows = flow_list::Reader::new(text.as_bytes(), path, ANY_HOST);
    rows.map_or(0, |rows| rows.map_while(Result::ok).map(|flow| flow.class).max().unwrap_or(0))
}
