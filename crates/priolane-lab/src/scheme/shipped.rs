//! The schemes that come with priolane, compiled in.

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each shipped scheme file.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../schemes/", $name, ".toml")))),*];
    };
}

shipped!("newreno", "dctcp", "nos2", "pias", "es8", "ps", "srpt", "ns3_dctcp");

/// The text of the shipped scheme of this name.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
