//! Data Center TCP (RFC 8257).

/// Parameters of DCTCP.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// NewReno's parameters, which DCTCP keeps where there are no marks.
    pub reno: super::new_reno::Config,
    /// Weight of a new estimate of the marked fraction, in (0, 1]. Default 1/16 (RFC 8257 §4.2).
    pub g: f64,
    /// The estimate before the first window, in [0, 1]. RFC 8257 §3.3 starts at 1; paper presets at 0.
    pub alpha_0: f64,
    /// Floor of the window after a cut, in segments, at least 1. Default 2 as in Linux.
    pub min_window: u32,
}
