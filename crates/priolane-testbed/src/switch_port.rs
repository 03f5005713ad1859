//! The ports of switches: those of the kernel, or those of the simulator in user space.

use std::collections::BTreeSet;

use priolane_core::ids::LinkId;
use priolane_core::part::Row;
use priolane_core::port::{Buffer, DisciplineSpec, PortFactory, Scope, SharedBuffer, TokenGroupSpec};
use priolane_core::units::{Limit, Span};
use priolane_lab::plan::Run;
use priolane_linux::network::SwitchPort;
use priolane_linux::port::{Mark, Port, Unfit};
use priolane_linux::user_port::{PortLimit, UserPort, token_wire};
use priolane_sim::scenario::{PortSpec, ScenarioSpec};
use priolane_source::InputError;
use serde_json::{Map, Value};

use super::choices::SwitchKind;
use super::refusals::error;
use super::scale::{declared, scale_row};

/// The properties from which the ports of a run's switches are made.
pub(super) struct Ports<'a> {
    run: &'a Run,
    scenario: &'a ScenarioSpec,
    scale: u64,
    kind: SwitchKind,
    /// The reason why switches are in user space although nobody asked for it.
    because: Option<String>,
}

impl<'a> Ports<'a> {
    /// Chooses the kind of switches if the user did not.
    ///
    /// # Errors
    /// A port that switches of the kind cannot be.
    pub(super) fn choose(
        run: &'a Run,
        scenario: &'a ScenarioSpec,
        (scale, asked): (u64, Option<SwitchKind>),
    ) -> Result<Self, InputError> {
        let ports = || scenario.ports.iter().zip(&scenario.topology.links);
        let of_switch = || ports().filter(|(_, link)| link.from.0 >= scenario.topology.hosts);
        let no_kernel = of_switch().find_map(|(port, _)| kernel(port, scenario.switch.memory).err());
        let (kind, because) = match (asked, no_kernel) {
            (Some(SwitchKind::Kernel), Some(unfit)) => {
                let key = format!("scheme.{}.port", run.scheme);
                return Err(error(run, &key, &unfit.what, "--switch user, or `priolane run`"));
            }
            (Some(SwitchKind::Kernel) | None, None) => (SwitchKind::Kernel, None),
            (Some(SwitchKind::User), _) => (SwitchKind::User, None),
            (None, Some(unfit)) => (SwitchKind::User, Some(unfit.what)),
        };
        Ok(Self { run, scenario, scale, kind, because })
    }

    /// Returns the kind of the switches.
    pub(super) fn kind(&self) -> SwitchKind {
        self.kind
    }

    /// Returns the kind of the switches and its reason, in words.
    pub(super) fn note(&self) -> String {
        let kind = match self.kind {
            SwitchKind::Kernel => "switches of the kernel",
            SwitchKind::User => "switches in user space",
        };
        let because = self.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
        format!("{}: {kind}{because}", self.run.scheme)
    }

    /// Whether packets have to carry their rank.
    pub(super) fn need_ranks(&self) -> bool {
        self.kind == SwitchKind::User && self.scenario.ports.iter().any(|port| port.discipline.reads_ranks())
    }

    /// The port of the switch at `link`; what differs from the simulator's goes to `differences`.
    ///
    /// # Errors
    /// A port that switches of the kind cannot be.
    pub(super) fn port(
        &self,
        link: LinkId,
        differences: &mut BTreeSet<String>,
    ) -> Result<SwitchPort, InputError> {
        let spec = &self.scenario.ports[link.index()];
        let memory = self.scenario.switch.memory;
        let wrong = |what: String| {
            let fix = "another scheme (--scheme), or `priolane run`";
            error(self.run, &format!("scheme.{}.port", self.run.scheme), what, fix)
        };
        if self.kind == SwitchKind::User {
            return self.user(link, spec).map(SwitchPort::from).map_err(wrong);
        }
        let port = kernel(spec, memory).map_err(|unfit| wrong(unfit.what))?;
        differences.extend(port.differences(&own_room(&spec.buffer, memory)));
        if let Some(SharedBuffer { size, .. }) = memory {
            differences.insert(format!(
                "a buffer of {size} B that the ports of a switch share in the simulator; here each queue has what one queue may \
                 hold alone"
            ));
        }
        Ok(port.into())
    }

    /// The port in user space: what the simulator has, with spans and rates scaled.
    fn user(&self, link: LinkId, spec: &PortSpec) -> Result<UserPort, String> {
        let Self { run, scenario, scale, .. } = self;
        if spec.buffer.ramp.is_some() {
            let what = "marks with a probability that grows with the queue (ecn.full): switches of a testbed mark above a threshold";
            return Err(what.to_owned());
        }
        let scheme = run.experiment.scheme.get(&run.scheme).ok_or("the experiment has no such scheme")?;
        let Ok(Value::Object(mut row)) = serde_json::to_value(&scheme.port) else {
            return Err("its port has no form in JSON: a defect".to_owned());
        };
        scale_row(&mut row, declared(Row::Port, scheme.port.kind.name()), *scale);
        if let DisciplineSpec::Tokens(tokens) = &spec.discipline {
            row.insert("token".to_owned(), format!("{}B", token_wire(tokens)).into());
        }
        let unscheduled = match &spec.discipline {
            DisciplineSpec::Tokens(tokens) => tokens.unscheduled.map(|own| own.class),
            _ => None,
        };
        let port = UserPort {
            row: without_nulls(row),
            map: scheme.map.queues(),
            unscheduled,
            room: PortLimit::of(&spec.buffer),
            mark: Mark::of(&spec.buffer),
            memory: scenario.switch.memory.map(Into::into),
            frame: scenario.frame,
            link: link.0,
            seed: scenario.seed,
        };
        let (made, expected) = (port.discipline()?, scaled(&spec.discipline, *scale));
        if made != expected {
            return Err(format!("its row makes {made:?}, not {expected:?}: a defect"));
        }
        Ok(port)
    }
}

/// Keys that are absent are so in files; JSON has them as null.
fn without_nulls(row: Map<String, Value>) -> Map<String, Value> {
    row.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// A discipline with its spans scaled, for packets as hosts send them.
fn scaled(discipline: &DisciplineSpec, scale: u64) -> DisciplineSpec {
    match discipline {
        DisciplineSpec::Tokens(tokens) => {
            let detour = tokens.detour.map(|detour| Span(detour.0.saturating_mul(scale)));
            TokenGroupSpec { detour, token_wire: token_wire(tokens), ..*tokens }.into()
        }
        other => other.clone(),
    }
}

fn kernel(spec: &PortSpec, memory: Option<SharedBuffer>) -> Result<Port, Unfit> {
    Port::of(&spec.discipline, &own_room(&spec.buffer, memory))
}

/// The buffer of a port whose switch has no memory that ports share: each queue has what it may hold if it is the only one,
/// alpha B / (1 + alpha).
fn own_room(buffer: &Buffer, memory: Option<SharedBuffer>) -> Buffer {
    let Some(SharedBuffer { size, alpha }) = memory else { return *buffer };
    let (alpha, one) = alpha.parts();
    let alone = u128::from(size) * u128::from(alpha) / (u128::from(alpha) + u128::from(one));
    let limit = Limit::Bytes(u64::try_from(alone).unwrap_or(u64::MAX));
    Buffer { limit, limit_scope: Scope::Queue, ..*buffer }
}
