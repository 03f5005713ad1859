//! `[metrics]` and `[[panel]]`: what is drawn from the runs. None of it changes a run but the size classes, by which its summary
//! is broken down, and the denominator of slowdowns.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use priolane_core::ids::{CLASSES, Class};
use priolane_core::units::Span;
use priolane_source::quantity::as_text;
use priolane_source::{Field, Form, InputError, Merge, Mistakes, Reader, Replace, nearest};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::{Seeds, service};
use crate::metrics::metric::{Metric, Need, Scope};
use crate::metrics::{SizeClass, path};
use crate::panels::{KINDS, Panel, PanelKind, X};
use priolane_results::summary::PortSet;

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
    pub classes: Vec<SizeClass>,
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

/// Whether there are sizes of which flows are in a class.
fn has_any(class: &SizeClass) -> bool {
    class.has(class.from.unwrap_or(1).max(class.above.map_or(1, |x| x.saturating_add(1))))
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
        self.classes = classes.iter().map(|class| (class.name.as_str(), class)).collect();
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

fn by_name<S: serde::Serializer>(classes: &[SizeClass], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(classes.iter().map(|class| (&class.name, class)))
}

/// Bounds of a class are inclusive or not; flows are counted by the class asked for or given, unless both are stated together.
pub(super) const MERGE: Merge = Merge {
    rules: &[],
    inner: &[("classes", &Merge { rules: &[], inner: &[], each: Some(&CLASS_MERGE) })],
    each: None,
};

const CLASS_MERGE: Merge = Merge::of(&[
    Replace::OneOf(&[Form { by: &["below"], with: &[] }, Form { by: &["to"], with: &[] }]),
    Replace::OneOf(&[Form { by: &["above"], with: &[] }, Form { by: &["from"], with: &[] }]),
    Replace::OneOf(&[Form { by: &["asked"], with: &[] }, Form { by: &["given"], with: &[] }]),
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
        let class = size_class(name, field, names)?;
        match class.over.as_deref() {
            Some(of) if of != "all" && (of == name || !known.contains(of)) => {
                let over = field.inner("over").unwrap_or_else(|| field.clone());
                Err(over.error(format!("there is no other class {of:?}"), "a class of [metrics], or all"))
            }
            _ => Ok(class),
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

fn size_class(name: &str, field: &Field<'_>, names: &Names<'_>) -> Result<SizeClass, InputError> {
    let mut keys = field.table()?;
    let mut bound = |key| keys.take(key).map(|f| f.bytes()).transpose();
    let (below, above) = (bound("below")?, bound("above")?);
    let (from, to) = (bound("from")?, bound("to")?);
    let group = keys.take("group").map_or(Ok(Vec::new()), |f| some_groups(&f, names))?;
    let cos = keys.take("cos").map(|f| service::cos(&f)).transpose()?;
    let over = keys.take("over").map(|f| f.text().map(str::to_owned)).transpose()?;
    let mut class = |key| keys.take(key).map(|f| Ok(f.integer(0, CLASSES as u64 - 1)? as Class)).transpose();
    let (asked, given) = (class("asked")?, class("given")?);
    let name = name.to_owned();
    let class = SizeClass { name, below, above, from, to, group, cos, over, asked, given };
    keys.finish()?;
    let empty = SizeClass { name: class.name.clone(), over: class.over.clone(), ..SizeClass::default() };
    if class == empty {
        return Err(field.error(
            "no bound is stated",
            "one or two of below, above, from, to, or a group, cos, asked, given",
        ));
    }
    if !has_any(&class) {
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
    let kinds: Vec<(&str, &PanelKind)> = KINDS.iter().map(|&kind| (kind.name, kind)).collect();
    let kind = keys.need("kind", "kind = \"line\"")?.word(&kinds)?;
    let optional = |keys: &mut Reader<'_>, key| keys.take(key).map(text).transpose();
    let x = optional(&mut keys, "x")?;
    if kind.x == X::Required && x.is_none() {
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

    fn known(&self, field: &Field<'_>, name: &str, class: &str) -> Result<(), InputError> {
        let Some(metric) = Metric::named(name) else {
            let fix = match nearest(name, Metric::all().map(|metric| metric.name)) {
                Some(near) => format!("did you mean {near:?}?"),
                None => "one of docs/results.md, such as `fct`, `gain` or `deadline_miss_rate`".to_owned(),
            };
            return Err(field.error(format!("there is no quantity {name:?}"), fix));
        };
        for &need in metric.needs {
            self.need(field, need, (name, class))?;
        }
        self.scope(field, metric.scope, (name, class))
    }

    /// What the metric `name` of `class` needs is stated.
    fn need(&self, field: &Field<'_>, need: Need, (name, class): (&str, &str)) -> Result<(), InputError> {
        let lacks = |none: fn(&Metrics) -> bool| self.metrics.is_some_and(none);
        match need {
            Need::Baseline if lacks(|metrics| metrics.baseline.is_none()) => {
                Err(field.error("gains need a baseline", "[metrics] baseline = \"dctcp\""))
            }
            Need::Bottleneck if lacks(|metrics| metrics.effective.is_none()) => {
                let fix = "effective = { to = \"sink\", every = \"100us\" } in [metrics]";
                Err(field.error("no bottleneck is declared", fix))
            }
            Need::Probabilities if self.metrics.is_some() && self.admission_every.is_none() => {
                let what = "probabilities are not kept over time";
                Err(field.error(what, "admission_every = \"1ms\" at the top of the file"))
            }
            Need::Over if self.classes.get(class).is_some_and(|own| own.over.is_none()) => {
                let fix = format!("over = \"all\", or another class, in the class {class}");
                Err(field.error(format!("{name} of {class:?} is relative to no class"), fix))
            }
            Need::Baseline | Need::Bottleneck | Need::Probabilities | Need::Over => Ok(()),
        }
    }

    /// The metric `name` can be of `class`.
    fn scope(&self, field: &Field<'_>, scope: Scope, (name, class): (&str, &str)) -> Result<(), InputError> {
        match scope {
            Scope::Thresholds => {
                let what = format!("{class:?} is no number of a threshold");
                let fix = format!("{name}.1: the first threshold, up to {name}.15");
                path::threshold_number(class).map(|_| ()).ok_or_else(|| field.error(what, fix))
            }
            Scope::Ports => {
                let sets = PortSet::ALL.map(PortSet::name);
                if sets.contains(&class) { Ok(()) } else { Err(field.no_such(class, &sets)) }
            }
            Scope::Run if class != "all" => Err(field.no_such(class, &["all"])),
            Scope::All(why) if class != "all" => Err(field.error(why, format!("{name}.all"))),
            Scope::Run | Scope::All(_) => Ok(()),
            // Without [metrics] nothing is known of classes.
            Scope::Asked | Scope::Classes | Scope::Flows if self.metrics.is_none() => Ok(()),
            Scope::Asked => match self.classes.get(class) {
                Some(own) if own.asked.is_some() => Ok(()),
                _ => Err(field.error(
                    format!("{class:?} is no class that flows ask for"),
                    "one of [metrics] classes with `asked`, such as high = { asked = 0 }",
                )),
            },
            Scope::Flows if is_flow(class) => Ok(()),
            Scope::Classes | Scope::Flows if class == "all" || self.classes.contains_key(class) => Ok(()),
            Scope::Classes | Scope::Flows => {
                let classes: Vec<&str> = std::iter::once("all").chain(self.classes.keys().copied()).collect();
                Err(field.no_such(class, &classes))
            }
        }
    }
}

/// Whether `class` is the name of a single flow.
fn is_flow(class: &str) -> bool {
    let digits = class.strip_prefix("flow");
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}
