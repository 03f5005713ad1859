//! `[metrics]` and `[[panel]]`: evaluation of runs. They do not affect runs, except for the size classes of a run's
//! summary and the denominator of slowdowns.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use priolane_core::keys::{InTable, Keys, Period, Words};
use priolane_core::name::{Alphabet, is_name};
use priolane_core::units::Span;
use priolane_source::{Field, Form, InputError, Merge, Mistakes, Replace, Sources, nearest};

use super::references::{self, KnownNames};
use crate::metrics::metric::{Metric, Need, Scope};
use crate::metrics::path::Measure;
use crate::metrics::{ALL, ByName, SizeClass, path};
use crate::panels::published::{self, Curve, Overlay, PointConflict};
use crate::panels::{By, Panel, X, by_size};
use priolane_results::summary::PortSet;

/// `[metrics]`.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct Metrics {
    /// The scheme that gains are relative to.
    #[key(optional, names = "scheme")]
    pub baseline: Option<String>,
    /// The denominator of slowdowns.
    #[key(default = Slowdown::Bare, source = "docs/assumptions.md#slowdown-handshake")]
    pub slowdown: Slowdown,
    /// The bottleneck whose effective throughput is measured.
    #[key(optional, form = InTable)]
    pub effective: Option<Effective>,
    /// The port at which costs of priorities are measured.
    #[key(optional, shown = "the host that sends most", source = "docs/assumptions.md#o1-o2")]
    pub port: Option<String>,
    /// Swept keys over whose values metrics are averaged, seed by seed: figures and claims have one point for all of them.
    #[key(optional)]
    pub average_over: Option<Vec<String>>,
    /// Classes of flows by name, in the order of the file; `all` always exists.
    #[key(default = Vec::new(), shown = "none", form = ByName)]
    pub classes: Vec<SizeClass>,
}

impl Metrics {
    /// Returns the swept keys over whose values metrics are averaged.
    pub fn averaged_keys(&self) -> &[String] {
        self.average_over.as_deref().unwrap_or_default()
    }
}

/// A bottleneck and the bin length at which the throughput of timely flows is measured.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
pub struct Effective {
    /// The group whose hosts' downlinks are the bottleneck.
    #[key(required = "to = \"sink\"", names = "group")]
    pub to: String,
    /// Length of a bin.
    #[key(required = "every = \"100us\"", range = "(0, )")]
    pub every: Period,
}

/// The denominator of slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Slowdown {
    /// Completion time in an idle network at line rate, without a handshake.
    Bare,
    /// The same after a request and a token, with data at the fraction of the link rate that tokens leave (TOP,
    /// footnote 1; docs/assumptions.md#slowdown-handshake). The same for all schemes.
    WithHandshake,
}

/// Names that metrics, figures and claims may use. Parts that could not be read are `None`, and any name is then
/// accepted.
pub(super) struct Names<'a> {
    schemes: Option<IndexSet<&'a str>>,
    groups: Option<IndexSet<&'a str>>,
    /// Whether a baseline and a bottleneck are declared.
    metrics: Option<&'a Metrics>,
    classes: IndexMap<&'a str, &'a SizeClass>,
    admission_every: Option<Span>,
}

impl<'a> Names<'a> {
    pub(super) fn new(schemes: Option<&'a [String]>, groups: Option<IndexSet<&'a str>>) -> Self {
        let schemes = schemes.map(|names| names.iter().map(String::as_str).collect());
        Self { schemes, groups, metrics: None, classes: IndexMap::new(), admission_every: None }
    }

    /// Records the contents of `[metrics]` and the sampling interval of admission probabilities.
    pub(super) fn learn(&mut self, metrics: Option<&'a Metrics>, admission_every: Option<Span>) {
        let classes = metrics.map_or(&[][..], |metrics| &metrics.classes);
        self.classes = classes.iter().map(|class| (class.name.as_str(), class)).collect();
        (self.metrics, self.admission_every) = (metrics, admission_every);
    }

    /// Checks that there is a group `name`; `field` is its location.
    pub(super) fn group(&self, field: &Field<'_>, name: &str) -> Result<(), InputError> {
        known_name(field, name, self.groups.as_ref())
    }

    /// Checks that there is a scheme `name`; `field` is its location.
    pub(super) fn scheme(&self, field: &Field<'_>, name: &str) -> Result<(), InputError> {
        known_name(field, name, self.schemes.as_ref())
    }
}

impl KnownNames for Names<'_> {
    fn known(&self, field: &Field<'_>, name: &str, noun: &str) -> Result<(), InputError> {
        match noun {
            "group" => self.group(field, name),
            "scheme" => self.scheme(field, name),
            "metric" => self.short(field, name),
            "metric of a scheme" => self.full(field, name),
            _ => Ok(()),
        }
    }
}

/// Checks that `name` is one of `names`; `field` is its location.
fn known_name(field: &Field<'_>, name: &str, names: Option<&IndexSet<&str>>) -> Result<(), InputError> {
    match names {
        Some(names) if !names.contains(name) => {
            let known: Vec<&str> = names.iter().copied().collect();
            Err(field.no_such(name, &known))
        }
        _ => Ok(()),
    }
}

/// Class bounds are inclusive or exclusive; flows are counted by requested or assigned class, unless both are set
/// together.
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
/// Returns all its mistakes.
pub(super) fn metrics(field: &Field<'_>, names: &Names<'_>) -> Result<Metrics, InputError> {
    let mut found = Mistakes::new(&field.origin().file);
    let metrics = found.keep(field.keys());
    references::check::<Metrics>(field, names, &mut found);
    let classes = field.inner("classes").and_then(|classes| classes.entries().ok()).unwrap_or_default();
    let known: HashSet<&str> = classes.iter().map(|&(name, _)| name).collect();
    found.each(&classes, |(name, class)| size_class(name, class, &known));
    found.done(metrics)
}

/// Maximum length of the name of a class, in bytes.
const LONGEST_CLASS: usize = 60;

/// Checks that a class has a valid name, and refers to a class that exists.
fn size_class(name: &str, field: &Field<'_>, known: &HashSet<&str>) -> Result<(), InputError> {
    if name == "all" || name.starts_with("flow") {
        return Err(field.error("the name is reserved", "a name other than `all` and `flow...`"));
    }
    if !is_name(name, Alphabet::Hyphen, LONGEST_CLASS) {
        let what = format!("{name:?} is not a valid name of a class");
        return Err(field.error(what, Alphabet::Hyphen.rule(LONGEST_CLASS)));
    }
    let Some(over) = field.inner("over") else { return Ok(()) };
    match over.text()? {
        of if of != "all" && (of == name || !known.contains(of)) => {
            Err(over.error(format!("unknown other class {of:?}"), "a class of [metrics], or all"))
        }
        _ => Ok(()),
    }
}

/// Reads one `[[panel]]`.
///
/// # Errors
/// Returns all its mistakes.
pub(super) fn panel(
    field: &Field<'_>,
    names: &Names<'_>,
    sources: &mut Sources,
) -> Result<Panel, InputError> {
    let mut found = Mistakes::new(&field.origin().file);
    let mut panel: Option<Panel> = found.keep(field.keys());
    if panel
        .as_ref()
        .is_some_and(|panel| panel.kind.x == X::Required && panel.x.is_none() && panel.by.is_none())
    {
        found.keep(
            field.table()?.need("x", "x = \"group.all.load.value\", a swept key, or by = \"size\"").map(drop),
        );
    }
    if let Some(x) =
        field.inner("x").filter(|_| panel.as_ref().is_some_and(|panel| panel.kind.x == X::Absent))
    {
        found.add(x.error("a panel of this kind has no x", "Remove the key"));
    }
    references::check::<Panel>(field, names, &mut found);
    let items = |key| field.inner(key).and_then(|list| list.list().ok()).unwrap_or_default();
    if panel.as_ref().is_some_and(|panel| panel.by == Some(By::Size)) {
        let metrics = field.inner("metric").into_iter().chain(items("metrics"));
        found.each(metrics, |metric| by_size(&metric));
    }
    if let (Some(panel), Some(published)) = (&mut panel, field.inner("published")) {
        panel.curves = found.keep(curves(&published, panel, names, sources)).unwrap_or_default();
    }
    found.done(panel)
}

/// Checks that a metric has values by flow size. What is no metric at all is a mistake of its own.
fn by_size(field: &Field<'_>) -> Result<(), InputError> {
    match Measure::parse(field.text()?).ok().and_then(|measure| by_size::refuse(&measure)) {
        Some((what, fix)) => Err(field.error(what, fix)),
        None => Ok(()),
    }
}

/// Reads the published curves of a panel; `field` is its key `published`.
fn curves(
    field: &Field<'_>,
    panel: &Panel,
    names: &Names<'_>,
    sources: &mut Sources,
) -> Result<Vec<Curve>, InputError> {
    let path = field.text()?;
    let text = sources.read_for_report(field, path, published::MAX_TABLE)?;
    published::parse(path, &text, &|series, x| names.in_panel(panel, series, x))
}

impl Names<'_> {
    /// Checks that a published point has a mark if its panel draws points only at marks: its series must be a scheme
    /// of the panel, and x a metric of the panel unless x is a swept key.
    fn in_panel(&self, panel: &Panel, series: &str, x: &str) -> Result<(), PointConflict> {
        if panel.kind.overlay != Overlay::AtMarks {
            return Ok(());
        }
        let all = || self.schemes.iter().flatten().map(|&name| name.to_owned()).collect();
        let schemes = panel.schemes.clone().unwrap_or_else(all);
        let conflict = |column, name: &str, known: &[String]| {
            Err(PointConflict {
                column,
                what: format!("the panel has no {column} {name:?}"),
                fix: format!("one of {}", known.join(", ")),
            })
        };
        if !schemes.iter().any(|name| name == series) {
            return conflict("series", series, &schemes);
        }
        if x.is_empty() || (panel.x.is_none() && !panel.metrics.iter().any(|name| name == x)) {
            return conflict("x", x, &panel.metrics);
        }
        Ok(())
    }

    /// Checks that `text` is a metric `quantity.class`; `field` is its location.
    pub(super) fn short(&self, field: &Field<'_>, text: &str) -> Result<(), InputError> {
        match text.split('.').collect::<Vec<_>>()[..] {
            [quantity, class] => self.known(field, quantity, class),
            _ => Err(field.error(
                format!("{text:?} is not a metric of the form quantity.class"),
                "quantity.class, such as \"fct.all\"",
            )),
        }
    }

    /// Checks that `text` is a metric `quantity.class.scheme`; `field` is its location.
    pub(super) fn full(&self, field: &Field<'_>, text: &str) -> Result<(), InputError> {
        let [quantity, class, scheme] = text.split('.').collect::<Vec<_>>()[..] else {
            let fix = "quantity.class.scheme, such as \"fct.all.dctcp\"";
            return Err(
                field.error(format!("{text:?} is not a metric of the form quantity.class.scheme"), fix)
            );
        };
        self.known(field, quantity, class)?;
        self.scheme(field, scheme)
    }

    fn known(&self, field: &Field<'_>, name: &str, class: &str) -> Result<(), InputError> {
        let Some(metric) = Metric::named(name) else {
            let fix = match nearest(name, Metric::all().map(|metric| metric.name)) {
                Some(near) => format!("Did you mean {near:?}?"),
                None => {
                    "a quantity of docs/results.md, such as `fct`, `gain` or `deadline_miss_rate`".to_owned()
                }
            };
            return Err(field.error(format!("unknown quantity {name:?}"), fix));
        };
        for &need in metric.needs {
            self.need(field, need, (name, class))?;
        }
        self.scope(field, metric.scope, (name, class))
    }

    /// Checks that the requirement of the metric `name` of `class` is declared.
    fn need(&self, field: &Field<'_>, need: Need, (name, class): (&str, &str)) -> Result<(), InputError> {
        let lacks = |none: fn(&Metrics) -> bool| self.metrics.is_some_and(none);
        match need {
            Need::Baseline if lacks(|metrics| metrics.baseline.is_none()) => {
                Err(field.error("gains need a baseline", "baseline = \"dctcp\" in [metrics]"))
            }
            Need::Bottleneck if lacks(|metrics| metrics.effective.is_none()) => {
                let fix = "effective = { to = \"sink\", every = \"100us\" } in [metrics]";
                Err(field.error("no bottleneck is declared", fix))
            }
            Need::Probabilities if self.metrics.is_some() && self.admission_every.is_none() => {
                let what = "probabilities are not recorded over time";
                Err(field.error(what, "admission_every = \"1ms\" at the top of the file"))
            }
            Need::Over if class == ALL => {
                let fix = "a class of [metrics] that states `over`";
                Err(field.error(format!("{name} needs a class that {class:?} is relative to"), fix))
            }
            Need::Over if self.classes.get(class).is_some_and(|own| own.over.is_none()) => {
                let fix = format!("over = \"all\", or another class, in the class {class}");
                Err(field.error(format!("{name} needs a class that {class:?} is relative to"), fix))
            }
            Need::Alone
                if class == ALL || self.classes.get(class).is_some_and(|own| own.group.is_empty()) =>
            {
                let fix = "a class of [metrics] that states `group`, such as job = { group = \"training\" }";
                Err(field.error(format!("{name} needs a class of groups, which then run alone"), fix))
            }
            Need::Baseline | Need::Bottleneck | Need::Probabilities | Need::Over | Need::Alone => Ok(()),
        }
    }

    /// Checks that `class` is a valid scope of the metric `name`.
    fn scope(&self, field: &Field<'_>, scope: Scope, (name, class): (&str, &str)) -> Result<(), InputError> {
        match scope {
            Scope::Thresholds => {
                let what = format!("{class:?} is not the number of a threshold");
                let fix = format!("{name}.1 for the first threshold, up to {name}.15");
                path::threshold_number(class).map(|_| ()).ok_or_else(|| field.error(what, fix))
            }
            Scope::Ports => {
                let sets = PortSet::ALL.map(PortSet::name);
                if sets.contains(&class) { Ok(()) } else { Err(field.no_such(class, &sets)) }
            }
            Scope::Run if class != "all" => Err(field.no_such(class, &["all"])),
            Scope::All(why) if class != "all" => Err(field.error(why, format!("{name}.all"))),
            Scope::Run | Scope::All(_) => Ok(()),
            // Without a readable [metrics], the classes are unknown.
            Scope::Asked | Scope::Classes | Scope::Flows if self.metrics.is_none() => Ok(()),
            Scope::Asked => match self.classes.get(class) {
                Some(own) if own.asked.is_some() => Ok(()),
                _ => Err(field.error(
                    format!("{class:?} is not a requested class of flows"),
                    "a class of [metrics] with `asked`, such as high = { asked = 0 }",
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
