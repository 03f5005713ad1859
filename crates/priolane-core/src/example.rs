//! Examples of parts, as files write them. The matrix of parts tries each part as its example has it.

/// An example of a part. All texts are keys and values in TOML, separated by commas; an empty text has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Example {
    /// The keys that a scheme states for it, besides its name.
    pub keys: &'static str,
    /// The rows of a scheme that usually stand beside a transport: `host`, `nic` and `port`. Rows that are left out are
    /// `round_robin`, `pull` and `fifo`.
    pub beside: &'static str,
    /// The keys with which it goes with other parts than without.
    pub variant: &'static str,
}

impl Example {
    /// A part that takes nothing but its name.
    pub const NONE: Self = Self { keys: "", beside: "", variant: "" };
}
