//! ExpressPass (SIGCOMM 2017): the token transport without ranks.

use super::{Config, Tokens};
use crate::keys::{KeyConflict, Keys};
use crate::packet::Frame;
use crate::part::Part;
use crate::transport::{Setup, TransportKeys};

/// Parameters of ExpressPass.
#[derive(Clone, Debug, PartialEq, Keys, Part)]
#[keys(group = "expresspass")]
#[part(
    name = "expresspass",
    summary = "ExpressPass: receivers pace credits, ports limit them, one packet per credit",
    source = "ExpressPass (SIGCOMM 2017)",
    requires = [TokenPorts, TokenQueue],
    deploy = [TokenLimiter, KernelModule],
    paths = Whole,
    on_hosts = ["min_rto = 5ms"],
    example = r#"token_min = "84B", token_max = "84B""#,
    beside = r#"host = "fifo", nic = "tokens", port = "tokens""#
)]
pub struct ExpressPass {
    /// The parameters of the token transport.
    #[keys(flatten, defaults(token_max = "92B", stop = "sender", recovery = "gbn"))]
    pub tokens: Config,
}

impl TransportKeys for ExpressPass {
    type Machine = Tokens;

    fn config(&self, setup: &Setup) -> Config {
        Config { frame: setup.frame, monitor: setup.monitor, ..self.tokens.clone() }
    }

    fn fits(&self, frame: &Frame) -> Result<(), KeyConflict> {
        self.tokens.token.fits(frame)
    }
}

impl Config {
    /// Returns ExpressPass's parameters for packets of `frame`, with tokens of 84 to 92 B.
    pub fn expresspass(frame: Frame) -> Self {
        Self { frame, ..ExpressPass::default().tokens }
    }
}
