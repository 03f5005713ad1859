//! `[metrics]` and `[[panel]]`: what is drawn from the runs. None of it changes a run but the size classes, by which its summary
//! is broken down, and the denominator of slowdowns.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use priolane_core::ids::{CLASSES, Class};
use priolane_core::price::Cos;
use priolane_core::units::Span;
use priolane_source::quantity::as_text;
use priolane_source::{Field, Form, InputError, Merge, Mistakes, Reader, Replace, nearest};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::{Seeds, service};
use crate::results::summary::PortSet;
use crate::verdict::path::{self, Quantity, Rated};

/// `[metrics]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// The scheme that gains are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The denominator of slowdowns.
    pub slowdown: Slowdown,
    /// The bottleneck whose effective throughput is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective: Option<Effective>,
    /// The port at which costs of priorities are reckoned; the one that sends most if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Size classes by name, in the order of the file; `all` always exists.
    #[serde(serialize_with = "by_name")]
    pub classes: Vec<(String, SizeClass)>,
}

/// A bottleneck, and how often what timely flows bring through it is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Effective {
    /// The group the lines to whose hosts are the bottleneck.
    pub to: String,
    /// Length of a bin.
    #[serde(serialize_with = "as_text::span")]
    pub every: Span,
}

/// The denominator of slowdowns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Slowdown {
    /// Completion time alone in the network at line rate, without a handshake.
    #[default]
    Bare,
    /// The same after a request and a token, data at the part of the line that tokens leave (TOP, footnote 1;
    /// docs/assumptions.md#slowdown-handshake). The same for all schemes.
    WithHandshake,
}

/// A range of flow sizes, of some groups or a class of service or all; at least a bound or one of these is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// size < below
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub below: Option<u64>,
    /// size > above
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub above: Option<u64>,
    /// size >= from
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// size <= to
    #[serde(serialize_with = "as_text::optional_bytes", skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// The groups whose flows count; all if empty.
    #[serde(serialize_with = "one_or_all", skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// The class of service whose flows count; all if `None`.
    #[serde(serialize_with = "cos_text", skip_serializing_if = "Option::is_none")]
    pub cos: Option<Cos>,
    /// The class that ratios of this one are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The class that flows ask for; any if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Class>,
    /// The class that flows are given when they start; any if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Class>,
}

/// One name as a text, several as a list: as files have it.
fn one_or_all<S: serde::Serializer>(names: &[String], s: S) -> Result<S::Ok, S::Error> {
    match names {
        [one] => one.serialize(s),
        all => all.serialize(s),
    }
}

fn cos_text<S: serde::Serializer>(cos: &Option<Cos>, s: S) -> Result<S::Ok, S::Error> {
    cos.map(Cos::name).serialize(s)
}

impl SizeClass {
    /// Whether a flow of `bytes` is in it.
    pub fn has(&self, bytes: u64) -> bool {
        self.below.is_none_or(|x| bytes < x)
            && self.above.is_none_or(|x| bytes > x)
            && self.from.is_none_or(|x| bytes >= x)
            && self.to.is_none_or(|x| bytes <= x)
    }

    /// Whether there are sizes of which flows are in it.
    fn has_any(&self) -> bool {
        self.has(self.from.unwrap_or(1).max(self.above.map_or(1, |x| x.saturating_add(1))))
    }
}

/// `[[panel]]`: one part of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// How it is drawn.
    pub kind: PanelKind,
    /// The swept key on the x axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Text at the x axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_label: Option<String>,
    /// What is drawn: `quantity.class`, at least one.
    pub metrics: Vec<String>,
    /// The schemes drawn; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schemes: Option<Vec<String>>,
    /// Text at the y axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y_label: Option<String>,
    /// Whether the y axis is logarithmic.
    pub log_y: bool,
    /// A line to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    /// The points it is restricted to: swept key and value.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub at: Map<String, Json>,
}

/// How a panel is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PanelKind {
    /// A line per scheme over a swept key.
    Line,
    /// A group of bars per metric.
    Bar,
    /// A distribution.
    Cdf,
}

/// Names that metrics, figures and claims may use; those that could not be read are `None`, and any is taken for right.
pub(super) struct Names<'a> {
    /// The seeds that are run.
    pub(super) seeds: Option<&'a Seeds>,
    schemes: Option<IndexSet<&'a str>>,
    groups: Option<IndexSet<&'a str>>,
    /// Whether there is a baseline and a bottleneck.
    metrics: Option<&'a Metrics>,
    classes: IndexMap<&'a str, &'a SizeClass>,
    admission_every: Option<Span>,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        schemes: Option<&'a [String]>,
        groups: Option<IndexSet<&'a str>>,
        seeds: Option<&'a Seeds>,
    ) -> Self {
        let schemes = schemes.map(|names| names.iter().map(String::as_str).collect());
        Self { seeds, schemes, groups, metrics: None, classes: IndexMap::new(), admission_every: None }
    }

    /// Takes note of what was read of `[metrics]`, and of how often probabilities are kept.
    pub(super) fn learn(&mut self, metrics: Option<&'a Metrics>, admission_every: Option<Span>) {
        let classes = metrics.map_or(&[][..], |metrics| &metrics.classes);
        self.classes = classes.iter().map(|(name, class)| (name.as_str(), class)).collect();
        (self.metrics, self.admission_every) = (metrics, admission_every);
    }

    fn group(&self, field: &Field<'_>) -> Result<String, InputError> {
        known_name(field, self.groups.as_ref())
    }
}

/// The name that `field` states, if it is one of `names`.
fn known_name(field: &Field<'_>, names: Option<&IndexSet<&str>>) -> Result<String, InputError> {
    let name = field.text()?;
    match names {
        Some(names) if !names.contains(name) => {
            let known: Vec<&str> = names.iter().copied().collect();
            Err(field.no_such(name, &known))
        }
        _ => Ok(name.to_owned()),
    }
}

fn by_name<S: serde::Serializer>(classes: &[(String, SizeClass)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(classes.iter().map(|(name, class)| (name, class)))
}

/// Bounds of a class are inclusive or not.
pub(super) const MERGE: Merge = Merge {
    rules: &[],
    inner: &[("classes", &Merge { rules: &[], inner: &[], each: Some(&CLASS_MERGE) })],
    each: None,
};

const CLASS_MERGE: Merge = Merge::of(&[
    Replace::OneOf(&[Form { by: &["below"], with: &[] }, Form { by: &["to"], with: &[] }]),
    Replace::OneOf(&[Form { by: &["above"], with: &[] }, Form { by: &["from"], with: &[] }]),
]);

/// Reads `[metrics]`.
///
/// # Errors
/// All its mistakes.
pub(super) fn metrics(field: &Field<'_>, names: &Names<'_>) -> Result<Metrics, InputError> {
    let mut keys = field.table()?;
    let mut found = Mistakes::new(&field.origin().file);
    let baseline = keys.take("baseline").map(|field| known_name(&field, names.schemes.as_ref()));
    let baseline = found.keep(baseline.transpose());
    let kinds = [("bare", Slowdown::Bare), ("with_handshake", Slowdown::WithHandshake)];
    let slowdown = found.keep(keys.take("slowdown").map_or(Ok(Slowdown::Bare), |field| field.word(&kinds)));
    let effective = found.keep(keys.take("effective").map(|f| effective(&f, names)).transpose());
    let port = found.keep(keys.take("port").map(text).transpose());
    let all = found.keep(keys.take("classes").map_or(Ok(Vec::new()), |f| f.entries())).unwrap_or_default();
    let known: HashSet<&str> = all.iter().map(|(name, _)| *name).collect();
    let classes = found.each(&all, |&(name, ref field)| {
        if name == "all" || name.contains('.') || name.starts_with("flow") {
            let fix = "a name without `.`, not `all` and not `flow...`";
            return Err(field.error("this name is taken", fix));
        }
        let class = size_class(field, names)?;
        match class.over.as_deref() {
            Some(of) if of != "all" && (of == name || !known.contains(of)) => {
                let over = field.inner("over").unwrap_or_else(|| field.clone());
                Err(over.error(format!("there is no other class {of:?}"), "a class of [metrics], or all"))
            }
            _ => Ok((name.to_owned(), class)),
        }
    });
    found.keep(keys.finish());
    let metrics = (|| {
        Some(Metrics {
            baseline: baseline?,
            slowdown: slowdown?,
            effective: effective?,
            port: port?,
            classes,
        })
    })();
    found.done(metrics)
}

fn effective(field: &Field<'_>, names: &Names<'_>) -> Result<Effective, InputError> {
    let mut keys = field.table()?;
    let to = names.group(&keys.need("to", "to = \"sink\"")?)?;
    let every = keys.need("every", "every = \"100us\"")?.positive_span()?;
    keys.finish()?;
    Ok(Effective { to, every })
}

fn size_class(field: &Field<'_>, names: &Names<'_>) -> Result<SizeClass, InputError> {
    let mut keys = field.table()?;
    let mut bound = |key| keys.take(key).map(|f| f.bytes()).transpose();
    let (below, above) = (bound("below")?, bound("above")?);
    let (from, to) = (bound("from")?, bound("to")?);
    let group = keys.take("group").map_or(Ok(Vec::new()), |f| some_groups(&f, names))?;
    let cos = keys.take("cos").map(|f| service::cos(&f)).transpose()?;
    let over = keys.take("over").map(|f| f.text().map(str::to_owned)).transpose()?;
    let mut class = |key| keys.take(key).map(|f| Ok(f.integer(0, CLASSES as u64 - 1)? as Class)).transpose();
    let (asked, given) = (class("asked")?, class("given")?);
    let class = SizeClass { below, above, from, to, group, cos, over, asked, given };
    keys.finish()?;
    if class == (SizeClass { over: class.over.clone(), ..SizeClass::default() }) {
        return Err(field.error(
            "no bound is stated",
            "one or two of below, above, from, to, or a group, cos, asked, given",
        ));
    }
    if !class.has_any() {
        return Err(field.error("no size is in it", "bounds with sizes between them"));
    }
    Ok(class)
}

/// A group's name, or a list of some.
fn some_groups(field: &Field<'_>, names: &Names<'_>) -> Result<Vec<String>, InputError> {
    let Ok(items) = field.list() else { return Ok(vec![names.group(field)?]) };
    if items.is_empty() {
        return Err(field.error("no group is named", "a group, or a list of groups"));
    }
    items.iter().map(|item| names.group(item)).collect()
}

/// Reads one `[[panel]]`.
pub(super) fn panel(field: &Field<'_>, names: &Names<'_>) -> Result<Panel, InputError> {
    let mut keys = field.table()?;
    let title = text(keys.need("title", "title = \"Mean FCT\"")?)?;
    let kinds = [("line", PanelKind::Line), ("bar", PanelKind::Bar), ("cdf", PanelKind::Cdf)];
    let kind = keys.need("kind", "kind = \"line\"")?.word(&kinds)?;
    let optional = |keys: &mut Reader<'_>, key| keys.take(key).map(text).transpose();
    let x = optional(&mut keys, "x")?;
    if kind == PanelKind::Line && x.is_none() {
        keys.need("x", "x = \"group.all.load.value\": the swept key")?;
    }
    let metrics = match (keys.take("metric"), keys.take("metrics")) {
        (Some(one), None) => vec![names.short(&one)?],
        (None, Some(many)) => many.filled_list()?.iter().map(|f| names.short(f)).collect::<Result<_, _>>()?,
        (None, None) => {
            return Err(keys.error("no metric is stated", "metric = \"fct.all\" or metrics = [...]"));
        }
        (Some(_), Some(many)) => return Err(many.error("metric is stated too", "one of metric and metrics")),
    };
    let schemes = keys.take("schemes").map(|f| names.scheme_list(&f)).transpose()?;
    let panel = Panel {
        title,
        kind,
        x,
        x_label: optional(&mut keys, "x_label")?,
        metrics,
        schemes,
        y_label: optional(&mut keys, "y_label")?,
        log_y: keys.take("log_y").map_or(Ok(false), |f| f.truth())?,
        reference: keys.take("reference").map(|f| f.any_number()).transpose()?,
        at: points(keys.take("at"))?,
    };
    keys.finish()?;
    Ok(panel)
}

pub(super) fn text(field: Field<'_>) -> Result<String, InputError> {
    field.text().map(str::to_owned)
}

pub(super) fn points(field: Option<Field<'_>>) -> Result<Map<String, Json>, InputError> {
    let entries = field.map_or(Ok(Vec::new()), |f| f.entries())?;
    Ok(entries.into_iter().map(|(key, value)| (key.to_owned(), value.value().to_json())).collect())
}

impl Names<'_> {
    /// `quantity.class`.
    fn short(&self, field: &Field<'_>) -> Result<String, InputError> {
        let text = field.text()?;
        match text.split('.').collect::<Vec<_>>()[..] {
            [quantity, class] => self.known(field, quantity, class)?,
            _ => {
                return Err(
                    field.error(format!("{text:?} is no metric here"), "quantity.class, such as \"fct.all\"")
                );
            }
        }
        Ok(text.to_owned())
    }

    /// `quantity.class.scheme`.
    pub(super) fn full(&self, field: &Field<'_>) -> Result<String, InputError> {
        let text = field.text()?;
        let [quantity, class, scheme] = text.split('.').collect::<Vec<_>>()[..] else {
            let fix = "quantity.class.scheme, such as \"fct.all.dctcp\"";
            return Err(field.error(format!("{text:?} is no metric"), fix));
        };
        self.known(field, quantity, class)?;
        self.scheme(field, scheme)?;
        Ok(text.to_owned())
    }

    fn scheme_list(&self, field: &Field<'_>) -> Result<Vec<String>, InputError> {
        let name = |item: &Field<'_>| {
            let name = item.text()?;
            self.scheme(item, name)?;
            Ok(name.to_owned())
        };
        field.filled_list()?.iter().map(name).collect()
    }

    fn scheme(&self, field: &Field<'_>, name: &str) -> Result<(), InputError> {
        let Some(names) = &self.schemes else { return Ok(()) };
        if names.contains(name) {
            return Ok(());
        }
        let known: Vec<&str> = names.iter().copied().collect();
        Err(field.no_such(name, &known))
    }

    /// Probabilities are those of a class that flows ask for.
    fn probability(&self, field: &Field<'_>, class: &str) -> Result<(), InputError> {
        if self.admission_every.is_none() {
            let what = "probabilities are not kept over time";
            return Err(field.error(what, "admission_every = \"1ms\" at the top of the file"));
        }
        match self.classes.get(class) {
            Some(own) if own.asked.is_some() => Ok(()),
            _ => Err(field.error(
                format!("{class:?} is no class that flows ask for"),
                "one of [metrics] classes with `asked`, such as high = { asked = 0 }",
            )),
        }
    }

    fn known(&self, field: &Field<'_>, quantity: &str, class: &str) -> Result<(), InputError> {
        let Some(known) = Quantity::named(quantity) else {
            let fix = match nearest(quantity, Quantity::names()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => "one of docs/results.md, such as `fct`, `gain` or `deadline_miss_rate`".to_owned(),
            };
            return Err(field.error(format!("there is no quantity {quantity:?}"), fix));
        };
        if let Quantity::Thresholds(_) = known {
            let what = format!("{class:?} is no number of a threshold");
            let fix = format!("{quantity}.1: the first threshold, up to {quantity}.15");
            return path::threshold_number(class).map(|_| ()).ok_or_else(|| field.error(what, fix));
        }
        if let Quantity::Ports(_) = known {
            let sets = PortSet::ALL.map(PortSet::name);
            return if sets.contains(&class) { Ok(()) } else { Err(field.no_such(class, &sets)) };
        }
        if let Quantity::Tokens(_) | Quantity::DataWait | Quantity::Throughput | Quantity::Loss = known {
            return if class == "all" { Ok(()) } else { Err(field.no_such(class, &["all"])) };
        }
        if let Quantity::Order(_) = known {
            let fix = format!("{quantity}.all");
            return if class == "all" {
                Ok(())
            } else {
                Err(field.error("a port is shared by all classes", fix))
            };
        }
        // Without [metrics] nothing is known of classes.
        let Some(metrics) = self.metrics else { return Ok(()) };
        let relative = known == Quantity::Gain || matches!(known, Quantity::Coflows(of) if of.is_relative());
        if relative && metrics.baseline.is_none() {
            return Err(field.error("gains need a baseline", "[metrics] baseline = \"dctcp\""));
        }
        if let Quantity::Settling(_) | Quantity::Keys(_) = known {
            return match class {
                "all" => Ok(()),
                _ => Err(field.error("all probabilities count together", format!("{quantity}.all"))),
            };
        }
        if known == Quantity::Probability {
            return self.probability(field, class);
        }
        if matches!(known, Quantity::Effective(_)) && metrics.effective.is_none() {
            let fix = "effective = { to = \"sink\", every = \"100us\" } in [metrics]";
            return Err(field.error("no bottleneck is declared", fix));
        }
        let of_flows = !matches!(
            known,
            Quantity::Rates(_) | Quantity::Coflows(_) | Quantity::FctRatio | Quantity::Effective(_)
        );
        if known == Quantity::Rates(Rated::Utility) && class != "all" {
            return Err(field.error("the optimum is that of all flows together", "utility.all"));
        }
        let relative = matches!(known, Quantity::FctRatio | Quantity::Rates(Rated::Ratio));
        let own = self.classes.get(class);
        if relative && own.is_some_and(|own| own.over.is_none()) {
            let fix = format!("over = \"all\", or another class, in the class {class}");
            return Err(field.error(format!("{quantity} of {class:?} is relative to no class"), fix));
        }
        let flow = of_flows
            && class
                .strip_prefix("flow")
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        if flow || class == "all" || own.is_some() {
            return Ok(());
        }
        let classes: Vec<&str> = std::iter::once("all").chain(self.classes.keys().copied()).collect();
        Err(field.no_such(class, &classes))
    }
}
