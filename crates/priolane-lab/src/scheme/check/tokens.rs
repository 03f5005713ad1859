//! Checks that a token transport is compatible with the other rows and the network.

use priolane_core::assign::Assign;
use priolane_core::port::{PortKind, TokenOrder};
use priolane_core::transport::tokens::{Paths, RankBy, RankedPackets};
use priolane_core::transport::{Spec, tokens};

use crate::scheme::Scheme;
use crate::scheme::fabric::{Coverage, Fabric, Fault, Routing};

/// Ranking by receivers, paths and ranks of a token transport.
pub(super) struct Tokens<'a> {
    pub(super) machine: &'a tokens::Config,
    priority: &'a RankBy,
    pub(super) paths: Paths,
    ranks: RankedPackets,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(transport: &'a Spec) -> Option<Self> {
        match transport {
            Spec::ExpressPass(keys) => Some(Self {
                machine: &keys.tokens,
                priority: &RankBy::Single,
                paths: Paths::Symmetric,
                ranks: RankedPackets::Tokens,
            }),
            Spec::Top(keys) => Some(Self {
                machine: &keys.tokens,
                priority: &keys.priority,
                paths: keys.paths,
                ranks: keys.ranks,
            }),
            _ => None,
        }
    }
}

/// Checks that a token transport fits ports, paths and flows.
pub(super) fn check(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let (Some(tokens), PortKind::Tokens(port)) = (Tokens::of(&scheme.transport), &scheme.port.kind) else {
        return Ok(());
    };
    if tokens.priority.classes() > port.classes {
        let what =
            format!("tokens have {} classes, but ports have {}", tokens.priority.classes(), port.classes);
        return Err(Fault::new("port.classes", what, format!("classes = {}", tokens.priority.classes())));
    }
    let mean = u32::from(tokens.machine.token.least) + u32::from(tokens.machine.token.most);
    if mean != 2 * u32::from(port.token_wire) {
        let what = format!(
            "ports expect tokens of {}B on average, but tokens have {}B",
            port.token_wire,
            f64::from(mean) / 2.0
        );
        return Err(Fault::new("port.token", what, "the mean of token_min and token_max"));
    }
    if tokens.priority.is_exact() != (port.order == TokenOrder::Rank) {
        let what = "ports that sort tokens by rank need receivers that rank flows exactly, and vice versa";
        return Err(Fault::new(
            "port.order",
            what.to_owned(),
            "order = \"rank\" with priority = \"exact_...\"",
        ));
    }
    let wanted = if tokens.ranks == RankedPackets::Data { tokens.priority.classes() } else { 1 };
    if port.data_queues != wanted {
        let what = format!("ports have {} data queues, but data has {wanted} ranks", port.data_queues);
        return Err(Fault::new("port.data_queues", what, format!("data_queues = {wanted}")));
    }
    if tokens.priority.reads_deadlines() && fabric.deadlines == Coverage::None {
        let what = "receivers rank flows by deadlines, but no flow has one".to_owned();
        return Err(Fault::new("transport.priority", what, "a group with deadline = \"2ms\""));
    }
    classes(scheme, (&tokens, fabric))?;
    ways(&tokens, fabric)
}

/// Checks that only receivers assign classes, unless they use the assigned classes of flows.
fn classes(scheme: &Scheme, (tokens, fabric): (&Tokens<'_>, &Fabric)) -> Result<(), Fault> {
    let wanted = scheme.classes_carried(fabric.top_class);
    let asked = matches!(tokens.priority, RankBy::Asked(_));
    if asked && wanted > u32::from(tokens.priority.classes()) {
        let what =
            format!("flows are assigned {wanted} classes, but tokens have {}", tokens.priority.classes());
        let fix = format!("transport.classes = {wanted} and port.classes = {wanted}");
        return Err(Fault::new("transport.classes", what, fix));
    }
    if !asked && scheme.admit.part().levels().is_some() {
        let what = format!(
            "`{}` assigns classes to flows, but receivers assign the classes of tokens",
            scheme.admit.name()
        );
        return Err(Fault::new("admit", what, "the transport `top` with priority = \"asked\""));
    }
    match scheme.assign {
        Assign::None(_) => Ok(()),
        Assign::ByFlow(_) if asked => Ok(()),
        _ => {
            let what = format!(
                "`{}` assigns classes to packets, but receivers assign the classes of tokens",
                scheme.assign.name()
            );
            Err(Fault::new(
                "assign",
                what,
                "assign = { kind = \"none\" }, or a rule by flow together with priority = \"asked\"",
            ))
        }
    }
}

/// Checks that tokens and data take the same path in opposite directions, unless packets are sprayed.
fn ways(tokens: &Tokens<'_>, fabric: &Fabric) -> Result<(), Fault> {
    if tokens.paths != Paths::Symmetric {
        return Ok(());
    }
    if fabric.routing == Routing::PerPacket {
        let what = "the network sprays packets, but data must take the path of its tokens".to_owned();
        return Err(Fault::new(
            "transport.paths",
            what,
            "topology.paths = \"hashed\", or transport.paths = \"spray\", \"round_robin\" or \"drill\" (top)",
        ));
    }
    if !fabric.symmetric {
        let what = "this network has no routing by which data takes the path of its tokens".to_owned();
        return Err(Fault::new(
            "transport",
            what,
            "a leaf-spine, fat-tree, three-tier or single-path network",
        ));
    }
    Ok(())
}
