//! Slower lines and longer times, in proportion: bandwidth-delay products, and so windows, thresholds and buffers, stay.

use std::collections::BTreeSet;

use priolane_core::assign::{Assign, Count, DemotionThresholds};
use priolane_core::deployment::PathKnowledge;
use priolane_core::host::SchedulerKind;
use priolane_core::keys::{KeyInfo, Schema};
use priolane_core::part::Row;
use priolane_core::quantity;
use priolane_core::scheme::find;
use priolane_core::units::{Rate, Span, Time};
use priolane_lab::plan::Run;
use priolane_linux::job::{Ladder, Order, SchemeJob};
use priolane_linux::network::Network;
use priolane_sim::scenario::Stop;
use priolane_sim::topology::Topology;
use priolane_source::InputError;
use serde_json::{Map, Value};

use super::choices::SwitchKind;
use super::refusals::error;

/// The rate of the fastest line of a host at the usual scale, in bit/s.
const USUAL_BPS: u64 = 100_000_000;
/// The lateness of hosts with real-time threads, in microseconds.
const LATE_US: u64 = 50;
/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// The scale at which the fastest line of a host has 100 Mbit/s, at least 1.
pub fn usual_scale(topology: &Topology) -> u64 {
    let hosts = topology.links.iter().filter(|link| link.from.0 < topology.hosts);
    hosts.map(|link| link.rate.bps()).max().unwrap_or(USUAL_BPS).div_ceil(USUAL_BPS).max(1)
}

/// Returns the effects of a scale that is too small or too large, in words; `switch` is the kind of the switches, if
/// they are made here.
pub(super) fn notes(scale: u64, switch: Option<SwitchKind>) -> Vec<String> {
    let late = LATE_US as f64 / scale as f64;
    let mut notes = vec![format!(
        "scale {scale}: rates are divided and times multiplied by it; hosts that wake up some {LATE_US} us late are {late} us late \
         in the experiment's time"
    )];
    if scale > 1 {
        let burst = match switch {
            Some(SwitchKind::Kernel) => "HTB's bursts of a packet, ",
            Some(SwitchKind::User) => "",
            None => "the network between the machines, ",
        };
        notes.push(format!(
            "not scaled: the bytes of packets, what the kernel takes for each (some 10 us), {burst}and the timers of priolane-net \
             itself (300 us that a line makes up for)"
        ));
    }
    notes
}

/// A span in nanoseconds, scaled.
pub(super) fn ns(span: Span, scale: u64) -> u64 {
    u64::try_from(u128::from(span.0) * u128::from(scale) / u128::from(PS_PER_NS)).unwrap_or(u64::MAX)
}

/// Returns the latest end of a run, in nanoseconds.
pub(super) fn limit_ns(stop: &Stop, scale: u64) -> u64 {
    match *stop {
        Stop::At(Time(at)) | Stop::WhenDone { limit: Time(at), .. } => ns(Span(at), scale),
    }
}

/// Returns the scheme of hosts where switches need no ranks and no admission decides, with the spans and rates among
/// the keys of the transport scaled.
///
/// # Errors
/// A key that has no form in JSON: a defect.
pub(super) fn scheme(run: &Run, scale: u64) -> Result<SchemeJob, InputError> {
    let key = format!("scheme.{}", run.scheme);
    let Some(scheme) = run.experiment.scheme.get(&run.scheme) else {
        return Err(error(run, &key, "the experiment has no such scheme", "a scheme that it lists"));
    };
    let row = serde_json::to_value(&scheme.transport);
    let Ok(Value::Object(mut row)) = row else {
        return Err(error(
            run,
            &key,
            "its transport has no form in JSON",
            "another scheme, and report a defect",
        ));
    };
    scale_row(&mut row, declared(Row::Transport, scheme.transport.name()), scale);
    let class = match &scheme.assign {
        Assign::BytesSent(bytes_sent) => bytes_sent.ladder(),
        Assign::None(_) | Assign::ByFlow(_) => DemotionThresholds::FLAT,
    };
    let host_level = scheme.host.part().demotion();
    let host_level = host_level.map_or(DemotionThresholds::FLAT, |levels| levels.ladder(Count::StreamOffset));
    Ok(SchemeJob {
        transport: row,
        order: match scheme.host.scheduler() {
            SchedulerKind::Mlfq => Order::Mlfq,
            SchedulerKind::Srpt => Order::Srpt,
            SchedulerKind::Las => Order::Las,
            SchedulerKind::RoundRobin | SchedulerKind::Fifo | SchedulerKind::Own => Order::RoundRobin,
        },
        class: ladder(&class),
        host_level: ladder(&host_level),
        ranks: false,
        admission: None,
    })
}

/// Whether the transport of `run` is one that depends on the delay and the rate of paths, which simulated hosts know.
pub(super) fn depends_on_paths(run: &Run) -> bool {
    path_knowledge(run) == PathKnowledge::Whole
}

/// Whether the transport of `run` is one that depends on the delay of the empty path, and `network` has the same for all hosts.
pub(super) fn depends_on_base_delay(run: &Run, network: &Network) -> bool {
    let lines: BTreeSet<(u64, u64)> =
        network.cables.iter().map(|cable| (cable.rate_bps, cable.delay_ns)).collect();
    network.switches == 1 && lines.len() == 1 && path_knowledge(run) == PathKnowledge::BaseDelay
}

/// Returns the knowledge of paths that the transport of `run` needs.
fn path_knowledge(run: &Run) -> PathKnowledge {
    let scheme = run.experiment.scheme.get(&run.scheme);
    let entry = scheme.and_then(|scheme| find(Row::Transport, scheme.transport.name()));
    entry.map_or(PathKnowledge::Nothing, |entry| entry.deployment.paths)
}

/// Levels by bytes sent, as a job has them.
fn ladder(levels: &DemotionThresholds) -> Ladder {
    Ladder {
        thresholds: levels.thresholds().to_vec(),
        count_retransmissions: levels.count() == Count::BytesSent,
    }
}

/// Scales the spans and rates among the values of `keys`: texts whose key is declared as a quantity.
pub(super) fn scale_row(row: &mut Map<String, Value>, keys: &[KeyInfo], scale: u64) {
    for (name, value) in row {
        let key = keys.iter().find(|key| key.name == name);
        key.into_iter().for_each(|key| scale_value(value, &key.schema, scale));
    }
}

/// Scales the spans and rates in a value that `schema` declares.
fn scale_value(value: &mut Value, schema: &Schema, scale: u64) {
    match (value, schema) {
        (Value::String(text), Schema::Quantity(_)) => scale_text(text, scale),
        (Value::Array(items), Schema::List(item) | Schema::OneOrMore(item)) => {
            items.iter_mut().for_each(|value| scale_value(value, item, scale));
        }
        (value, Schema::OneOrMore(item)) => scale_value(value, item, scale),
        (Value::Object(entries), Schema::Table(keys) | Schema::OneOf(_, keys)) => {
            scale_row(entries, keys, scale)
        }
        (Value::Object(entries), Schema::Map(_, item)) => {
            entries.values_mut().for_each(|value| scale_value(value, item, scale));
        }
        (value, Schema::AnyOf(schemas)) => {
            let schema = schemas.iter().find(|schema| holds_quantities(value, schema));
            schema.into_iter().for_each(|schema| scale_value(value, schema, scale));
        }
        _ => {}
    }
}

/// Returns whether a value of this type can have quantities under `schema`.
fn holds_quantities(value: &Value, schema: &Schema) -> bool {
    match schema {
        Schema::Quantity(_) => value.is_string(),
        Schema::List(_) => value.is_array(),
        Schema::OneOrMore(item) => value.is_array() || holds_quantities(value, item),
        Schema::Table(_) | Schema::OneOf(..) | Schema::Map(..) => value.is_object(),
        Schema::AnyOf(schemas) => schemas.iter().any(|schema| holds_quantities(value, schema)),
        _ => false,
    }
}

/// Scales a quantity if it is a span or a rate; other quantities, such as sizes, stay.
fn scale_text(text: &mut String, scale: u64) {
    if let Ok(span) = quantity::span(text) {
        *text = quantity::show_span(Span(span.0.saturating_mul(scale)));
    } else if let Ok(rate) = quantity::rate(text) {
        *text = quantity::show_rate(Rate::from_bps(rate.bps() / scale).unwrap_or(rate));
    }
}

/// Returns the declared keys of a part of a scheme. The list is empty if the scheme has no part of this name.
pub(super) fn declared(row: Row, name: &str) -> &'static [KeyInfo] {
    find(row, name).map_or(&[][..], |entry| entry.parameters.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use priolane_lab::scheme::{SHIPPED, read};
    use priolane_source::{Origin, parse};
    use serde_json::json;

    fn key(name: &'static str, schema: Schema) -> KeyInfo {
        KeyInfo {
            name,
            group: "",
            meaning: "",
            unit: "",
            bounds: priolane_core::keys::Bounds::ANY,
            default: String::new(),
            source: "",
            required: false,
            none: None,
            schema,
        }
    }

    #[test]
    fn spans_and_rates_of_a_row_are_scaled_and_nothing_else() {
        let quantity = |name| key(name, Schema::Quantity("1us"));
        let channel = vec![quantity("target"), key("weight", Schema::Integer), key("label", Schema::Text)];
        let words = Schema::Words(&[("auto", "as measured")]);
        let keys = [
            key("kind", Schema::Text),
            key("g", Schema::Number),
            quantity("min_rto"),
            quantity("rate"),
            quantity("buffer"),
            key("name", Schema::Text),
            key("scheme", Schema::Name("scheme")),
            key("anything", Schema::Any),
            key("channels", Schema::List(Box::new(Schema::Table(channel)))),
            key(
                "base",
                Schema::AnyOf(vec![words, Schema::Quantity("1us"), Schema::Table(vec![quantity("at")])]),
            ),
            key("by_name", Schema::Map("a", Box::new(Schema::Quantity("1us")))),
        ];
        let mut row = json!({
            "kind": "dctcp", "g": "1/16", "min_rto": "10ms", "rate": "10Gbps", "buffer": "64KiB",
            // Names that look like a time or a rate.
            "name": "10ms", "scheme": "10Gbps", "anything": "10ms", "not_declared": "10ms",
            "channels": [{ "target": "5us", "weight": 3, "label": "5us" }],
            "base": "5us", "by_name": { "10ms": "5us" },
        });
        scale_row(row.as_object_mut().unwrap(), &keys, 100);
        let expected = json!({
            "kind": "dctcp", "g": "1/16", "min_rto": "1s", "rate": "100Mbps", "buffer": "64KiB",
            "name": "10ms", "scheme": "10Gbps", "anything": "10ms", "not_declared": "10ms",
            "channels": [{ "target": "500us", "weight": 3, "label": "5us" }],
            "base": "500us", "by_name": { "10ms": "500us" },
        });
        assert_eq!(row, expected);
        let mut row = json!({ "base": { "at": "5us" } });
        scale_row(row.as_object_mut().unwrap(), &keys, 100);
        assert_eq!(row, json!({ "base": { "at": "500us" } }));
    }

    /// Scales every text that reads as a span or a rate, whatever its key.
    fn scale_all(value: &mut Value) {
        match value {
            Value::String(text) => scale_text(text, 100),
            Value::Array(items) => items.iter_mut().for_each(scale_all),
            Value::Object(entries) => entries.values_mut().for_each(scale_all),
            _ => {}
        }
    }

    #[test]
    fn no_span_and_no_rate_of_a_shipped_scheme_is_left_out() {
        let mut scaled = 0;
        for (name, text) in SHIPPED {
            let origin = Origin { file: format!("{name}.toml").into(), line: None };
            let scheme = read(&parse(&origin.file, text).unwrap(), "", &origin).unwrap();
            let rows = [
                (Row::Transport, scheme.transport.name(), serde_json::to_value(&scheme.transport)),
                (Row::Port, scheme.port.kind.name(), serde_json::to_value(&scheme.port)),
            ];
            for (row, part, value) in rows {
                let mut value = value.unwrap();
                let mut expected = value.clone();
                scale_all(&mut expected);
                scaled += u32::from(value != expected);
                scale_row(value.as_object_mut().unwrap(), declared(row, part), 100);
                assert_eq!(value, expected, "{name}");
            }
        }
        assert!(scaled > 20, "{scaled}");
    }

    #[test]
    fn times_of_flows_grow_and_their_rates_shrink() {
        assert_eq!(ns(Span::from_us(3), 100), 300_000);
        assert_eq!(limit_ns(&Stop::At(Time(Span::from_ms(2).0)), 100), 200_000_000);
        let notes = |scale| super::notes(scale, Some(SwitchKind::User));
        assert!(notes(100)[0].contains("are 0.5 us late"), "{:?}", notes(100));
        assert_eq!(notes(1).len(), 1);
    }
}
