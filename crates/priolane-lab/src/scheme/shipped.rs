//! The schemes shipped with priolane, compiled into the binary.

use std::sync::OnceLock;

use priolane_source::{InputError, Table, parse};

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each shipped scheme file.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../data/schemes/", $name, ".toml")))),*];
    };
}

shipped!(
    "newreno",
    "cubic",
    "dctcp",
    "nos2",
    "pias",
    "es8",
    "ps",
    "srpt",
    "srpt_ranked",
    "ns3_dctcp",
    "paccp",
    "paccp_dctcp",
    "swift",
    "ledbat",
    "d2tcp",
    "hpcc",
    "timely",
    "dcqcn",
    "nscc",
    "pfabric",
    "phost",
    "ndp",
    "homa",
    "prioplus_swift",
    "prioplus_ledbat",
    "physical_swift",
    "physical_star_swift",
    "pifo_swift",
    "aifo_swift",
    "aequitas",
    "firapam",
    "expresspass",
    "top",
    "ideal_tokens"
);

/// Returns the text of the shipped scheme of this name.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// Returns the tree of the shipped scheme of this name, parsed once per process; its file name is `schemes/NAME.toml`.
///
/// # Errors
/// Returns an error if the shipped file is not valid TOML, which a test rules out.
pub(crate) fn shipped_tree(name: &str) -> Option<Result<&'static Table, InputError>> {
    static TREES: OnceLock<Vec<Result<Table, InputError>>> = OnceLock::new();
    let tree = |(name, text): &(&str, &str)| parse(&format!("schemes/{name}.toml"), text);
    let trees = TREES.get_or_init(|| SHIPPED.iter().map(tree).collect());
    let at = SHIPPED.iter().position(|(n, _)| *n == name)?;
    Some(trees[at].as_ref().map_err(Clone::clone))
}
