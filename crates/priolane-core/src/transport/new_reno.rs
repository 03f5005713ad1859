//! TCP NewReno (RFC 5681, RFC 6582).

/// Parameters of NewReno.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Window of a new flow, in bytes; `None` means 10 segments (RFC 6928).
    pub init_window: Option<u64>,
}
