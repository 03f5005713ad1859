//! Admission at the hosts of a run as pure data: the policy, and the record of its calls.

use priolane_core::admit::{AdmissionSite, HostAdmission, OnDowngrade, Policy, Source};
use priolane_core::ids::HostId;
use priolane_core::units::{Rate, Span};
use priolane_net::read_keys;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::row::keys;

/// An admission policy at each host, in the time of the experiment. Nothing is scaled, because the constants of the
/// policy refer to that time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmissionJob {
    /// The `admit` part of a scheme: `kind` and its keys.
    pub row: Map<String, Value>,
    /// The seed of the run.
    pub seed: u64,
    /// The payload bytes per MTU in the experiment.
    pub mss: u32,
    /// The rate of a host's line in the experiment, in bit/s.
    pub line_bps: u64,
    /// The factor by which the run takes longer than the experiment, at least 1.
    pub scale: u64,
    /// The reaction of the applications of each group of flows to a lower class. Groups beyond the end of the list
    /// ignore a lower class.
    pub on_downgrade: Vec<Reaction>,
}

/// The reaction of an application to a lower class than it asked for, in picoseconds of the experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reaction {
    /// The application ignores the lower class.
    Ignore,
    /// The application holds the flow back, and asks again.
    Defer {
        /// The time for which the flow is held back each time, above 0.
        by_ps: u64,
        /// The largest number of times that the flow is held back, at least 1.
        times: u32,
    },
    /// The less urgent flows of the application to the same host ask for no better class for some time.
    Reclassify {
        /// The time for which this applies, above 0.
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
    /// Returns the policy of the row.
    ///
    /// # Errors
    /// Returns a text that says what is wrong with the row.
    pub fn policy(&self) -> Result<Policy, String> {
        let Some(Value::String(kind)) = self.row.get("kind") else {
            return Err("admit.kind is missing: write the name of a policy".to_owned());
        };
        let keys = keys(&self.row).map_err(|what| format!("admit.{what}"))?;
        read_keys(kind, &keys).map_err(|error| format!("admit.{error}"))
    }

    /// Builds the admission of host `host` before its first flow, as the simulator does from the same row, host and
    /// seed. The admission probabilities are sampled each `watch`.
    ///
    /// # Errors
    /// Returns a text that says what is wrong with the job.
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

/// The outcome for a flow that asked for a class and started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmittedFlow {
    /// The class of the flow, 0 to 15.
    pub class: u8,
    /// The time for which the application held the flow back, in nanoseconds.
    pub held_ns: u64,
}

/// The end of a message as seen by its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndOfMessage {
    /// The time from hand-over to the news that all bytes had arrived, in nanoseconds.
    pub elapsed_ns: u64,
    /// The smoothed round-trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// The number of bytes that were retransmitted.
    pub retransmitted: u64,
    /// The number of packets that were retransmitted.
    pub retransmits: u32,
    /// The number of retransmission timeouts.
    pub timeouts: u32,
}

/// A question or a report to the policy of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AdmissionCall {
    /// The policy was asked for the class of a flow that was about to start.
    Asked {
        /// The class that the policy gave; `None` if the flow was held back.
        given: Option<u8>,
    },
    /// The policy was told that a flow was delivered.
    Completed(EndOfMessage),
    /// The policy was told that a flow was aborted, or has failed.
    Aborted,
}

/// A call of the policy of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdmissionEvent {
    /// The instant that the policy was given, in nanoseconds since the start of the run by the host's clock.
    pub at_ns: u64,
    /// The number of the flow.
    pub flow: u32,
    /// The question or the report.
    pub call: AdmissionCall,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a policy of this row at a scale of 100, on lines of 10 Gbit/s.
    pub(crate) fn admission(row: Value) -> AdmissionJob {
        let Value::Object(row) = row else { panic!("{row}") };
        let line_bps = 10_000_000_000;
        AdmissionJob { row, seed: 1, mss: 1_460, line_bps, scale: 100, on_downgrade: Vec::new() }
    }

    /// Returns Aequitas with two classes. Flows of up to one MTU should take less than 10 us, and a slower one halves
    /// the admission probability.
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
