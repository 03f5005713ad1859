//! The conversion of the scheme of a job to that of priolane-net.

use priolane_core::assign::DemotionThresholds;
use priolane_core::host::SchedulerKind;
use priolane_core::keys::Value;
use priolane_core::wire::Ranks;
use priolane_net::{Scheme, SchemeError};
use serde_json::Value as Json;

use crate::job::{Ladder, Order, SchemeJob};
use crate::row::keys;

/// Returns the scheme of an experiment, with the defaults of experiments.
///
/// # Errors
/// Returns a text that names an unknown transport, or a key that is unknown or out of range.
pub fn scheme(job: &SchemeJob) -> Result<Scheme, String> {
    scheme_of(job, Scheme::of_row)
}

/// Returns the scheme of a host outside an experiment, with the defaults of keys over UDP.
///
/// # Errors
/// Returns the errors of [`scheme`].
pub fn udp_scheme(job: &SchemeJob) -> Result<Scheme, String> {
    scheme_of(job, Scheme::with)
}

/// A function that reads the keys of a transport.
type ReadTransport = fn(&str, &[(&str, Value<'_>)]) -> Result<Scheme, SchemeError>;

fn scheme_of(job: &SchemeJob, read: ReadTransport) -> Result<Scheme, String> {
    let Some(Json::String(kind)) = job.transport.get("kind") else {
        return Err("scheme.transport: kind is missing: write the name of a transport".to_owned());
    };
    let keys = keys(&job.transport).map_err(|what| format!("scheme.transport.{what}"))?;
    let scheme = read(kind, &keys).map_err(|error| format!("scheme.transport: {error}"))?;
    Ok(Scheme {
        order: match job.order {
            Order::RoundRobin => SchedulerKind::RoundRobin,
            Order::Mlfq => SchedulerKind::Mlfq,
            Order::Srpt => SchedulerKind::Srpt,
            Order::Las => SchedulerKind::Las,
        },
        class: thresholds(&job.class)?,
        host_level: thresholds(&job.host_level)?,
        ranks: if job.ranks { Ranks::Carried } else { Ranks::Absent },
        ..scheme
    })
}

fn thresholds(ladder: &Ladder) -> Result<DemotionThresholds, String> {
    ladder.demotion().ok_or_else(|| {
        format!("thresholds {:?}: write at most 15, none below the one before", ladder.thresholds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(transport: Json) -> SchemeJob {
        let Json::Object(transport) = transport else { panic!("{transport}") };
        let class = Ladder::default();
        SchemeJob {
            transport,
            order: Order::Mlfq,
            host_level: class.clone(),
            class,
            ranks: false,
            admission: None,
        }
    }

    #[test]
    fn only_hosts_without_an_experiment_have_the_defaults_over_udp() {
        let row = || job(json!({ "kind": "ndp" }));
        let given = |rto: &str| scheme(&job(json!({ "kind": "ndp", "rto": rto })));
        assert_eq!(scheme(&row()), given("1ms"));
        assert_eq!(udp_scheme(&row()), given("10ms"));
    }

    #[test]
    fn rows_of_scheme_files_are_read() {
        let with = job(
            json!({ "kind": "dctcp", "g": "1/16", "alpha_0": 0, "init_window": "10pkt", "min_rto": "1s" }),
        );
        let ladder = Ladder { thresholds: vec![10_000, 20_000], count_retransmissions: false };
        let scheme = scheme(&SchemeJob { class: ladder, ..with }).unwrap();
        assert_eq!(scheme.transport.name(), "dctcp");
        assert_eq!((scheme.class.levels(), scheme.host_level.levels()), (3, 1));
        assert_eq!(scheme.order, SchedulerKind::Mlfq);
        assert_eq!(scheme.transport.window().unwrap().min_rto, priolane_core::units::Span::from_ms(1_000));
    }

    #[test]
    fn mistakes_are_named() {
        let error_of = |transport| scheme(&job(transport)).unwrap_err();
        assert!(
            error_of(json!({ "kind": "dctcp", "min_rto": "3" }))
                .starts_with("scheme.transport: min_rto: \"3\" has no unit")
        );
        assert!(error_of(json!({ "g": 1 })).contains("kind is missing"));
        let ladder = Ladder { thresholds: vec![2, 1], count_retransmissions: false };
        let wrong = SchemeJob { class: ladder, ..job(json!({ "kind": "dctcp" })) };
        assert!(scheme(&wrong).unwrap_err().starts_with("thresholds [2, 1]"));
    }

    #[test]
    fn each_order_and_each_ladder_has_its_own_place() {
        let order = |order| scheme(&SchemeJob { order, ..job(json!({ "kind": "dctcp" })) }).unwrap().order;
        let all = [Order::RoundRobin, Order::Mlfq, Order::Srpt, Order::Las].map(order);
        assert_eq!(
            all,
            [SchedulerKind::RoundRobin, SchedulerKind::Mlfq, SchedulerKind::Srpt, SchedulerKind::Las]
        );
        let host_level = Ladder { thresholds: vec![1, 2, 3], count_retransmissions: false };
        let found =
            scheme(&SchemeJob { host_level, ranks: true, ..job(json!({ "kind": "dctcp" })) }).unwrap();
        assert_eq!((found.class.levels(), found.host_level.levels(), found.ranks), (1, 4, Ranks::Carried));
    }
}
