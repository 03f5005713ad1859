//! Compares measurements with the yardstick.

use std::collections::BTreeMap;

use serde::Serialize;

use super::limit::Limit;
use super::measure::Raw;
use super::named::NamedScenario;

/// The measurements of `priolane bench`.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The yardstick.
    pub limit: Limit,
    /// The scenarios.
    pub scenarios: Vec<Measurement>,
}

/// The measurement of one scenario on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// Name of the scenario.
    pub name: &'static str,
    /// Packets transmitted on links.
    pub packet_hops: u64,
    /// Events processed by the engine.
    pub events: u64,
    /// CPU time of one run, in seconds: the median.
    pub cpu_s: f64,
    /// CPU time per packet-hop, in nanoseconds.
    pub ns_per_hop: f64,
    /// CPU time per data packet delivered to a host, in nanoseconds; includes the cost of control packets.
    pub ns_per_delivered: f64,
    /// `ns_per_hop` divided by the yardstick of a scenario of this size.
    pub ratio_to_limit: f64,
    /// Peak memory of the runs beyond that of the process before, in bytes; `None` if unknown.
    pub peak_bytes: Option<u64>,
}

/// Measures the yardstick and relates the measurements to it.
pub fn compare(raws: &[(&'static NamedScenario, Raw)]) -> Bench {
    let limit = Limit::measure(
        raws.iter().map(|(named, raw)| (named.name, named.extent.unwrap_or_else(|| raw.busy.extent()))),
    );
    let scenarios = raws.iter().map(|(named, raw)| measured(named, raw, &limit.yardsticks)).collect();
    Bench { limit, scenarios }
}

fn measured(named: &NamedScenario, raw: &Raw, yardsticks: &BTreeMap<&'static str, f64>) -> Measurement {
    let ns_per_hop = raw.cpu_s * 1e9 / raw.packet_hops.max(1) as f64;
    let yardstick = yardsticks.get(named.name).copied().unwrap_or(f64::NAN);
    Measurement {
        name: named.name,
        packet_hops: raw.packet_hops,
        events: raw.events,
        cpu_s: raw.cpu_s,
        ns_per_hop,
        ns_per_delivered: raw.cpu_s * 1e9 / raw.delivered.max(1) as f64,
        ratio_to_limit: ns_per_hop / yardstick,
        peak_bytes: raw.peak_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Busy;
    use super::super::scenarios::ALL;
    use super::*;

    #[test]
    fn ratio_is_time_per_hop_over_the_yardstick_of_the_scenario() {
        let raw = Raw {
            packet_hops: 1_000_000,
            delivered: 100_000,
            events: 1_200_000,
            cpu_s: 0.06,
            peak_bytes: Some(7),
            busy: Busy::default(),
        };
        let yardsticks = BTreeMap::from([(ALL[0].name, 30.0), (ALL[1].name, 1.0)]);
        let row = measured(&ALL[0], &raw, &yardsticks);
        // 0.06 s / 10^6 = 60 ns, twice the 30 ns.
        assert!((row.ns_per_hop - 60.0).abs() < 1e-9 && (row.ratio_to_limit - 2.0).abs() < 1e-9, "{row:?}");
        assert!((row.ns_per_delivered - 600.0).abs() < 1e-9, "{row:?}");
    }

    #[test]
    fn answer_has_the_fields_of_the_contract() {
        let raw = Raw {
            packet_hops: 10,
            delivered: 4,
            events: 20,
            cpu_s: 1e-6,
            peak_bytes: None,
            busy: Busy::default(),
        };
        let answer = serde_json::to_value(compare(&[(&ALL[0], raw)])).unwrap();
        let limit = answer["limit"].as_object().unwrap();
        assert!(limit.values().all(|part| part.as_f64().is_some_and(|ns| ns > 0.0)), "{limit:?}");
        assert!(limit.contains_key("dctcp_leafspine144"));
        let mut keys: Vec<&String> = answer["scenarios"][0].as_object().unwrap().keys().collect();
        keys.sort();
        let contract = [
            "cpu_s",
            "events",
            "name",
            "ns_per_delivered",
            "ns_per_hop",
            "packet_hops",
            "peak_bytes",
            "ratio_to_limit",
        ];
        assert_eq!(keys, contract);
        assert!(answer["scenarios"][0]["peak_bytes"].is_null());
    }
}
