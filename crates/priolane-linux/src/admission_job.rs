//! Admission at the hosts of a run as pure data: what decides, and what it was asked and told.

use priolane_core::admit::{AdmissionSite, HostAdmission, OnDowngrade, Policy, Source};
use priolane_core::ids::HostId;
use priolane_core::units::{Rate, Span};
use priolane_net::read_keys;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::row::keys;

/// An admission policy at each host, in the experiment's time: nothing of it is scaled, since its constants are of that time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmissionJob {
    /// The `admit` row of a scheme: `kind` and its keys.
    pub row: Map<String, Value>,
    /// The seed of the run.
    pub seed: u64,
    /// Payload bytes per MTU in the experiment.
    pub mss: u32,
    /// The rate of a host's line in the experiment, in bit/s.
    pub line_bps: u64,
    /// How many times as long as in the experiment all takes, at least 1.
    pub scale: u64,
    /// By group of flows, how its applications react to a lower class; groups beyond it ignore that.
    pub on_downgrade: Vec<Reaction>,
}

/// How an application reacts to a lower class than it asked for, in picoseconds of the experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reaction {
    /// Not at all.
    Ignore,
    /// It holds the flow back, and asks again.
    Defer {
        /// For how long each time, above 0.
        by_ps: u64,
        /// How often at most, at least 1.
        times: u32,
    },
    /// Its less urgent flows to the same host ask for no better class for some time.
    Reclassify {
        /// For how long, above 0.
        lasts_ps: u64,
    },
}

impl From<OnDowngrade> for Reaction {
    fn from(reaction: OnDowngrade) -> Self {
        match reaction {
            OnDowngrade::Ignore => Self::Ignore,
            OnDowngrade::Defer { by, times } => Self::Defer { by_ps: by.0, times },
            OnDowngrade::Reclassify { lasts } => Self::Reclassify { lasts_ps: lasts.0 },
        }
    }
}

impl From<Reaction> for OnDowngrade {
    fn from(reaction: Reaction) -> Self {
        match reaction {
            Reaction::Ignore => Self::Ignore,
            Reaction::Defer { by_ps, times } => Self::Defer { by: Span(by_ps), times },
            Reaction::Reclassify { lasts_ps } => Self::Reclassify { lasts: Span(lasts_ps) },
        }
    }
}

impl AdmissionJob {
    /// The policy of the row.
    ///
    /// # Errors
    /// What is wrong with the row, in words.
    pub fn policy(&self) -> Result<Policy, String> {
        let Some(Value::String(kind)) = self.row.get("kind") else {
            return Err("admit.kind is missing: write the name of a policy".to_owned());
        };
        let keys = keys(&self.row).map_err(|what| format!("admit.{what}"))?;
        read_keys(kind, &keys).map_err(|error| format!("admit.{error}"))
    }

    /// The admission of host `host` before its first flow: what the simulator builds of the same row, host and seed. Its
    /// probabilities are sampled each `watch`.
    ///
    /// # Errors
    /// What is wrong with the job, in words.
    pub fn build(&self, host: u16, watch: Option<Span>) -> Result<HostAdmission, String> {
        let policy = self.policy()?;
        let line = Rate::from_bps(self.line_bps).ok_or("admission.line_bps is 0: write a rate above it")?;
        if self.scale == 0 {
            return Err("admission.scale is 0: write 1 or more".to_owned());
        }
        let source = Source { mtu: self.mss, line };
        let site = AdmissionSite { host: HostId(host), source, seed: self.seed, watch };
        let on_downgrade: Vec<OnDowngrade> =
            self.on_downgrade.iter().map(|&reaction| reaction.into()).collect();
        HostAdmission::new(policy.part(), &site, &on_downgrade)
            .ok_or_else(|| format!("admit.kind: {:?} decides nothing: leave admission out", policy.name()))
    }
}

/// What became of a flow that asked for a class and started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmittedFlow {
    /// The class that it got, 0 to 15.
    pub class: u8,
    /// How long its application held it back, in nanoseconds.
    pub held_ns: u64,
}

/// The end of a message, as its sender saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndOfMessage {
    /// From its hand-over to the news that all had arrived, in nanoseconds.
    pub elapsed_ns: u64,
    /// Smoothed round-trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// Bytes that were sent again.
    pub retransmitted: u64,
    /// Packets that were sent again.
    pub retransmits: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

/// What the policy of a host was asked or told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AdmissionCall {
    /// It was asked for the class of a flow that was about to start.
    Asked {
        /// The class; `None` if the flow was held back.
        given: Option<u8>,
    },
    /// It was told that a flow was delivered.
    Completed(EndOfMessage),
    /// It was told that a flow was aborted, or failed.
    Aborted,
}

/// A call of the policy of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmissionEvent {
    /// The instant that it was given, in nanoseconds since the start of the run by the host's clock.
    pub at_ns: u64,
    /// The flow.
    pub flow: u32,
    /// The call.
    pub call: AdmissionCall,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A policy of this row at a scale of 100, on lines of 10 Gbit/s.
    pub(crate) fn admission(row: Value) -> AdmissionJob {
        let Value::Object(row) = row else { panic!("{row}") };
        let line_bps = 10_000_000_000;
        AdmissionJob { row, seed: 1, mss: 1_460, line_bps, scale: 100, on_downgrade: Vec::new() }
    }

    /// Aequitas with two classes. Flows of up to one MTU are to take less than 10 us, and one that does not halves the
    /// probability.
    pub(crate) fn aequitas() -> AdmissionJob {
        let targets = ["10us"];
        admission(json!({ "kind": "aequitas", "levels": 2, "targets": targets, "beta": 0.5, "floor": 0.001 }))
    }

    #[test]
    fn a_job_goes_over_a_wire_as_it_is() {
        let defer = Reaction::Defer { by_ps: 7, times: 2 };
        let all = vec![Reaction::Ignore, defer, Reaction::Reclassify { lasts_ps: 9 }];
        let job = AdmissionJob { seed: u64::MAX, on_downgrade: all, ..aequitas() };
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<AdmissionJob>(&text).unwrap(), job);
        let same = job.on_downgrade.iter().map(|&reaction| Reaction::from(OnDowngrade::from(reaction)));
        assert!(same.eq(job.on_downgrade.iter().copied()));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |job: AdmissionJob| job.build(0, None).unwrap_err();
        assert!(error(admission(json!({}))).starts_with("admit.kind is missing"));
        assert!(error(admission(json!({ "kind": "fair" }))).starts_with("admit.kind: there is no \"fair\""));
        let row = json!({ "kind": "firapam", "levels": 1 });
        assert!(error(admission(row.clone())).starts_with("admit.levels: "), "{}", error(admission(row)));
        assert!(error(admission(json!({ "kind": "none" }))).contains("decides nothing"));
        assert!(error(AdmissionJob { scale: 0, ..aequitas() }).starts_with("admission.scale is 0"));
        assert!(error(AdmissionJob { line_bps: 0, ..aequitas() }).starts_with("admission.line_bps is 0"));
    }
}
