//! Whether a token transport fits the other rows, and the network.

use priolane_core::assign::Assign;
use priolane_core::port::{PortKind, TokenOrder};
use priolane_core::transport::tokens::{Expiry, Paths, RankBy, Ranked};
use priolane_core::transport::{Spec, tokens};
use priolane_core::units::Span;
use priolane_source::quantity::show_span;

use crate::scheme::Scheme;
use crate::scheme::fabric::{Coverage, Fabric, Fault, Routing};

/// What receivers rank flows by, paths and ranks of a token transport; `None` for any other.
struct Tokens<'a> {
    machine: &'a tokens::Config,
    priority: &'a RankBy,
    expiry: Expiry,
    paths: Paths,
    ranks: Ranked,
}

impl<'a> Tokens<'a> {
    fn of(transport: &'a Spec) -> Option<Self> {
        match transport {
            Spec::ExpressPass(keys) => Some(Self {
                machine: &keys.tokens,
                priority: &RankBy::Single,
                expiry: Expiry::Switch,
                paths: Paths::Symmetric,
                ranks: Ranked::Tokens,
            }),
            Spec::Top(keys) => Some(Self {
                machine: &keys.tokens,
                priority: &keys.priority,
                expiry: keys.expiry,
                paths: keys.paths,
                ranks: keys.ranks,
            }),
            _ => None,
        }
    }
}

/// Whether a token transport fits ports, paths and flows.
pub(super) fn check(scheme: &Scheme, fabric: &Fabric) -> Result<(), Fault> {
    let (Some(tokens), PortKind::Tokens(port)) = (Tokens::of(&scheme.transport), &scheme.port.kind) else {
        return Ok(());
    };
    if tokens.priority.classes() > port.classes {
        let what = format!(
            "tokens have {} classes, and ports tell {} apart",
            tokens.priority.classes(),
            port.classes
        );
        return Err(Fault::new("port.classes", what, format!("classes = {}", tokens.priority.classes())));
    }
    let mean = u32::from(tokens.machine.token.least) + u32::from(tokens.machine.token.most);
    if mean != 2 * u32::from(port.token_wire) {
        let what = format!(
            "ports take tokens for {}B on average, and they have {}B",
            port.token_wire,
            f64::from(mean) / 2.0
        );
        return Err(Fault::new("port.token", what, "the mean of token_min and token_max"));
    }
    if tokens.priority.is_exact() != (port.order == TokenOrder::Rank) {
        let what = "ports that sort by rank and receivers that rank exactly need each other";
        return Err(Fault::new(
            "port.order",
            what.to_owned(),
            "order = \"rank\" with priority = \"exact_...\"",
        ));
    }
    let wanted = if tokens.ranks == Ranked::Data { tokens.priority.classes() } else { 1 };
    if port.data_queues != wanted {
        let what = format!("ports have {} queues of data, and data has {wanted} ranks", port.data_queues);
        return Err(Fault::new("port.data_queues", what, format!("data_queues = {wanted}")));
    }
    if let Some(lifetime) = tokens.expiry.lifetime()
        && lifetime.times(2) < fabric.round_trip
    {
        let what = format!(
            "tokens live {}, and half of an empty round trip takes {}",
            show_span(lifetime),
            show_span(Span(fabric.round_trip.0 / 2))
        );
        return Err(Fault::new("transport.lifetime", what, "T = d + |P| th: add what tokens may wait"));
    }
    if tokens.priority.reads_deadlines() && fabric.deadlines == Coverage::None {
        let what = "receivers rank flows by deadlines, and no flow has one".to_owned();
        return Err(Fault::new("transport.priority", what, "a group with deadline = \"2ms\""));
    }
    classes(scheme, (&tokens, fabric))?;
    ways(&tokens, fabric)
}

/// Classes are the receivers' to give, unless they give those that flows were given.
fn classes(scheme: &Scheme, (tokens, fabric): (&Tokens<'_>, &Fabric)) -> Result<(), Fault> {
    let wanted = scheme.classes_carried(fabric.top_class);
    let asked = matches!(tokens.priority, RankBy::Asked(_));
    if asked && wanted > u32::from(tokens.priority.classes()) {
        let what = format!("flows are given {wanted} classes, and tokens have {}", tokens.priority.classes());
        let fix = format!("transport.classes = {wanted} and port.classes = {wanted}");
        return Err(Fault::new("transport.classes", what, fix));
    }
    if !asked && scheme.admit.part().levels().is_some() {
        let what = format!("`{}` gives flows classes, and receivers give tokens theirs", scheme.admit.name());
        return Err(Fault::new("admit", what, "the transport `top` with priority = \"asked\""));
    }
    match scheme.assign {
        Assign::None(_) => Ok(()),
        Assign::ByFlow(_) if asked => Ok(()),
        _ => {
            let what =
                format!("`{}` gives packets classes, and receivers give tokens theirs", scheme.assign.name());
            Err(Fault::new(
                "assign",
                what,
                "assign = { kind = \"none\" }, or a rule by flow with priority = \"asked\"",
            ))
        }
    }
}

/// Tokens and data must meet, unless all is sprayed.
fn ways(tokens: &Tokens<'_>, fabric: &Fabric) -> Result<(), Fault> {
    if tokens.paths != Paths::Symmetric {
        return Ok(());
    }
    if fabric.routing == Routing::PerPacket {
        let what = "the network sprays packets, and data must take the way of its tokens".to_owned();
        return Err(Fault::new(
            "transport.paths",
            what,
            "topology.paths = \"hashed\", or transport.paths = \"spray\", \"round_robin\" or \"drill\" (top)",
        ));
    }
    if !fabric.symmetric {
        let what = "in this network there is no choice of paths by which data takes the way of its tokens"
            .to_owned();
        return Err(Fault::new(
            "transport",
            what,
            "a leaf-spine, fat-tree, three-tier or single-path network",
        ));
    }
    Ok(())
}
