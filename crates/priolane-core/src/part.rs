//! Declarations of parts (algorithms, applications, topologies) that files can choose, and lists of such parts.

pub use priolane_derive::Part;

use crate::deployment::Deployment;
use crate::example::Example;
use crate::finding::{Finding, NetworkFacts};
use crate::keys::{Bounds, KeyInfo, Keys, Schema, Table, append_new, only_one_of};
pub use crate::row::Row;

/// A capability that one row may require and another may provide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Capability {
    /// Switch ports mark packets of ECN-capable transports above a threshold.
    CongestionMarks,
    /// Packets carry a rank that ports can sort by: window transports write the bytes left from the packet's first
    /// byte on.
    Ranks,
    /// Flows share capacity by weight: w of (theta, w).
    Weights,
    /// Flows keep a soft minimum rate: theta of (theta, w).
    MinimumRates,
    /// The host's scheduler chooses each packet at the instant the link is free.
    PacketPull,
    /// The order of levels inside the host is preserved up to the link.
    HostOrder,
    /// Packets wait in a transmit queue in the order in which the transport sent them.
    TransmitQueue,
    /// Switch ports trim payload instead of dropping packets.
    Trimming,
    /// Switch ports limit tokens so that the data they trigger fits the link.
    TokenPorts,
    /// Hosts limit their own tokens as switch ports do.
    TokenQueue,
    /// Queues whose classes can be paused individually.
    ClassPause,
    /// Flows can share a connection: they are sent one after the other, with one congestion window.
    Connections,
}

impl Capability {
    /// Returns the capability as a clause for messages.
    pub fn clause(self) -> &'static str {
        match self {
            Self::CongestionMarks => "switch ports that mark packets (ECN)",
            Self::Ranks => "packets that carry a rank",
            Self::Weights => "flows that share by weight",
            Self::MinimumRates => "flows that keep a minimum rate",
            Self::PacketPull => "a link that asks the host's scheduler for each packet",
            Self::HostOrder => "a NIC that keeps the host's order of levels",
            Self::Trimming => "switch ports that trim packets",
            Self::TransmitQueue => "a transmit queue at the NIC",
            Self::TokenPorts => "switch ports that limit tokens",
            Self::TokenQueue => "a NIC that limits tokens as switch ports do",
            Self::ClassPause => "queues whose classes can be paused individually",
            Self::Connections => "connections that flows share",
        }
    }
}

/// A capability that an entry provides, possibly only if one of its parameters is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Provision {
    /// The provided capability.
    pub capability: Capability,
    /// The parameter that must be set for it; `None` if it is always provided.
    pub if_set: Option<&'static str>,
}

/// The way in which a file names the chosen part of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// A table in which a key of the list has the part's name as its value: `{ queue = "fifo", ... }`.
    Tag,
    /// The part's name instead of a table: `"pull"`.
    Name,
    /// A table with a key named after the part, which no other part has: `{ port = { ... }, ... }`.
    Key,
}

/// Declaration of a part; `#[derive(Part)]` implements it.
pub trait Part: Keys {
    /// Its name in files.
    const NAME: &'static str;
    /// The way in which a file names this part.
    const NOTATION: Notation = Notation::Tag;
    /// The purpose of the part, in one line.
    const SUMMARY: &'static str;
    /// Paper or standard and section.
    const SOURCE: &'static str;
    /// Capabilities that the other rows must provide.
    const REQUIRES: &'static [Capability] = &[];
    /// Capabilities that it provides to the other rows.
    const PROVIDES: &'static [Capability] = &[];
    /// The equipment, hosts and applications that it takes in a real network.
    const DEPLOYMENT: Deployment = Deployment::NONE;
    /// An example of it, as files write it.
    const EXAMPLE: Example = Example::NONE;

    /// Returns which of its settings do not go together on a network. Default: none.
    fn findings(&self, network: &NetworkFacts<'_>) -> Vec<Finding> {
        let _ = network;
        Vec::new()
    }
}

/// The declaration of a part: its names, keys and sources.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The row it belongs to.
    pub row: Row,
    /// Its name in files.
    pub name: &'static str,
    /// The way in which a file names this part.
    pub notation: Notation,
    /// The key whose value is the part's name, for [`Notation::Tag`].
    pub tag: &'static str,
    /// The purpose of the part, in one line.
    pub summary: &'static str,
    /// Paper or standard and section.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: Vec<KeyInfo>,
    /// Capabilities that the other rows must provide.
    pub requires: &'static [Capability],
    /// Capabilities that it provides to the other rows.
    pub provides: Vec<Provision>,
    /// The equipment, hosts and applications that it takes in a real network.
    pub deployment: Deployment,
    /// An example of it, as files write it.
    pub example: Example,
}

impl Entry {
    /// Returns the declaration of the part `P`, with the tag `kind`.
    pub fn of<P: Part>(row: Row) -> Self {
        let mut parameters = Vec::new();
        P::describe(&mut parameters);
        let provides = P::PROVIDES.iter().map(|&capability| Provision { capability, if_set: None }).collect();
        Self {
            row,
            name: P::NAME,
            notation: P::NOTATION,
            tag: "kind",
            summary: P::SUMMARY,
            source: P::SOURCE,
            parameters,
            requires: P::REQUIRES,
            provides,
            deployment: P::DEPLOYMENT,
            example: P::EXAMPLE,
        }
    }

    /// Returns its example as a file writes it.
    pub fn written_example(&self) -> String {
        let Self { name, tag, example: Example { keys, .. }, .. } = self;
        match self.notation {
            Notation::Name => format!("{name:?}"),
            Notation::Key => format!("{{ {keys} }}"),
            Notation::Tag if keys.is_empty() => format!("{{ {tag} = {name:?} }}"),
            Notation::Tag => format!("{{ {tag} = {name:?}, {keys} }}"),
        }
    }

    /// Returns the group of the key `key`; `None` if there is no such key, or it has no group.
    fn group_of(&self, key: &str) -> Option<&'static str> {
        let info = self.parameters.iter().find(|info| info.name == key);
        info.map(|info| info.group).filter(|group| !group.is_empty())
    }

    /// Appends the keys `K` to its own.
    #[must_use]
    pub(crate) fn followed_by<K: Keys>(mut self) -> Self {
        K::describe(&mut self.parameters);
        self
    }
}

/// Returns whether the parts `old` and `new` of `entries` have `key` in the same group. Its value is then kept when
/// one part replaces the other.
pub fn share<'e>(
    entries: impl IntoIterator<Item = &'e Entry> + Clone,
    [old, new]: [&str; 2],
    key: &str,
) -> bool {
    let group = |name| entries.clone().into_iter().find(|entry| entry.name == name)?.group_of(key);
    group(old).is_some() && group(old) == group(new)
}

/// Reads the word under `tag`, which is one of `names`.
///
/// # Errors
/// If the word is missing or is not one of `names`.
pub(crate) fn take_name<T: Table>(
    table: &mut T,
    tag: &'static str,
    names: &[&'static str],
) -> Result<&'static str, T::Error> {
    let words: Vec<(&str, &str)> = names.iter().map(|&name| (name, name)).collect();
    match table.take(tag, |value| value.word(&words))? {
        Some(name) => Ok(name),
        None => Err(table.missing(tag, &format!("{tag} = {:?}", names[0]))),
    }
}

/// Returns which of `parts` a table chooses, by the word under `tag` or by a key of the part's name.
///
/// # Errors
/// If the table chooses none of them, or more than one.
pub fn choose<T: Table>(
    table: &mut T,
    tag: &'static str,
    parts: &[(&'static str, Notation)],
) -> Result<&'static str, T::Error> {
    let names = |notation| parts.iter().filter(move |part| part.1 == notation).map(|part| part.0);
    let tagged: Vec<&'static str> = names(Notation::Tag).collect();
    let keys: Vec<&'static str> = std::iter::once(tag).chain(names(Notation::Key)).collect();
    match only_one_of(table, &keys, &format!("{tag} = {:?}", tagged[0]))? {
        0 => take_name(table, tag, &tagged),
        place => Ok(keys[place]),
    }
}

/// Describes the key `tag`, whose word chooses a part of a list, and the keys of `entries`.
pub fn describe(tag: &'static str, entries: Vec<Entry>, out: &mut Vec<KeyInfo>) {
    out.push(KeyInfo {
        name: tag,
        group: tag,
        meaning: "The variant; its keys are in the same table",
        unit: "",
        bounds: Bounds::ANY,
        default: String::new(),
        source: "",
        required: true,
        none: None,
        schema: Schema::Text,
    });
    entries.into_iter().for_each(|entry| append_new(entry.parameters, out));
}

/// Defines an enum of a list of parts, each with a struct of keys that implements [`Part`]. The word that chooses the
/// part is under `kind`, or under another key: `by "solver"`. A part of another [`Notation`] states it in its
/// declaration. `else` names the variant of parts that other crates register: a box that is `Registered`, of a trait with
/// its own `name` and `write`. That trait must be in scope.
///
/// ```text
/// parts! {
///     /// What starts flows.
///     pub enum App: dyn Application in App by "app" {
///         /// Each host sends one flow to another, each receives one.
///         Permutation(super::permutation::Permutation);
///     }
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __parts {
    (@registered $list:ident) => {};
    (@registered $list:ident else $boxed:ty) => {
        impl $list {
            /// Returns the code hash of a part of another crate; `None` for one of this crate.
            pub fn code(&self) -> Option<u64> {
                let registry = <$boxed>::registry();
                registry.named(self.name()).map(|part| part.code)
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $list:ident: dyn $trait:ident in $row:ident { $($kinds:tt)* }
        $(else { $($others:tt)* })?
    ) => {
        $crate::part::parts! {
            $(#[$meta])*
            pub enum $list: dyn $trait in $row by "kind" { $($kinds)* }
            $(else { $($others)* })?
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $list:ident: dyn $trait:ident in $row:ident by $tag:literal {
            $($(#[$doc:meta])* $kind:ident($config:ty);)*
        }
        $(else { $(#[$else_doc:meta])* $other:ident($boxed:ty); })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $list {
            $($(#[$doc])* $kind($config),)*
            $($(#[$else_doc])* $other($boxed),)?
        }

        impl $list {
            /// Names in files, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$(<$config as $crate::part::Part>::NAME),*];

            /// Names in files, each with its notation, in the order of the list.
            pub const PARTS: &'static [(&'static str, $crate::part::Notation)] =
                &[$((<$config as $crate::part::Part>::NAME, <$config as $crate::part::Part>::NOTATION)),*];

            /// Returns how a file names this part.
            pub fn notation(&self) -> $crate::part::Notation {
                match self {
                    $(Self::$kind(_) => <$config as $crate::part::Part>::NOTATION,)*
                    $(Self::$other(_) => $crate::part::Notation::Tag,)?
                }
            }

            /// Returns its name in files.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$config as $crate::part::Part>::NAME,)*
                    $(Self::$other(other) => other.name(),)?
                }
            }

            /// Reads the keys of the part `name`; `None` if there is no such part.
            ///
            /// # Errors
            /// An error of its keys.
            pub fn read<T: $crate::keys::Table>(name: &str, table: &mut T) -> Result<Option<Self>, T::Error> {
                $(if name == <$config as $crate::part::Part>::NAME {
                    return $crate::keys::Keys::read(table).map(|config| Some(Self::$kind(config)));
                })*
                $(if let Some(other) = <$boxed>::registry().read(name, table)? {
                    return Ok(Some(Self::$other(other)));
                })?
                Ok(None)
            }

            /// Appends its tag, if it has one, and its keys to `out`.
            pub fn write(&self, out: &mut $crate::keys::Pairs) {
                if self.notation() == $crate::part::Notation::Tag {
                    out.push(($tag, self.name().into()));
                }
                match self {
                    $(Self::$kind(config) => $crate::keys::Keys::write(config, out),)*
                    $(Self::$other(other) => other.write(out),)?
                }
            }

            /// Returns which of its settings do not go together on a network.
            pub fn findings(
                &self,
                network: &$crate::finding::NetworkFacts<'_>,
            ) -> Vec<$crate::finding::Finding> {
                match self {
                    $(Self::$kind(config) => $crate::part::Part::findings(config, network),)*
                    $(Self::$other(other) => other.findings(network),)?
                }
            }

            /// Returns the declarations of the parts on the list.
            pub fn entries() -> Vec<$crate::part::Entry> {
                vec![$($crate::part::Entry {
                    tag: $tag,
                    ..$crate::part::Entry::of::<$config>($crate::part::Row::$row)
                }),*]
            }

            /// Returns the declarations of the parts that other crates have registered. After the first call none can
            /// be added.
            pub fn registered_entries() -> Vec<$crate::part::Entry> {
                #[allow(unused_mut, reason = "not every list can be extended")]
                let mut entries = Vec::new();
                $(let registry = <$boxed>::registry();
                entries.extend(registry.all().iter().map(|part| part.entry.clone()));)?
                entries
            }

            /// Returns the declarations of all parts, those of other crates last.
            pub fn all_entries() -> Vec<$crate::part::Entry> {
                let mut entries = Self::entries();
                entries.extend(Self::registered_entries());
                entries
            }

            /// Returns the part as a trait object.
            pub fn part(&self) -> &dyn $trait {
                match self {
                    $(Self::$kind(config) => config,)*
                    $(Self::$other(other) => <$boxed as std::ops::Deref>::deref(other),)?
                }
            }

            /// Returns the part as a mutable trait object.
            pub fn part_mut(&mut self) -> &mut dyn $trait {
                match self {
                    $(Self::$kind(config) => config,)*
                    $(Self::$other(other) => <$boxed as std::ops::DerefMut>::deref_mut(other),)?
                }
            }
        }

        impl serde::Serialize for $list {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                if self.notation() == $crate::part::Notation::Name {
                    return s.serialize_str(self.name());
                }
                let mut pairs = $crate::keys::Pairs::new();
                self.write(&mut pairs);
                s.collect_map(pairs)
            }
        }

        impl $crate::keys::Keys for $list {
            fn read<T: $crate::keys::Table>(table: &mut T) -> Result<Self, T::Error> {
                #[allow(unused_mut, reason = "not every list can be extended")]
                let mut parts = Self::PARTS.to_vec();
                $(let registry = <$boxed>::registry();
                parts.extend(registry.names().map(|name| (name, $crate::part::Notation::Tag)));)?
                let name = $crate::part::choose(table, $tag, &parts)?;
                Self::read(name, table).map(|read| read.expect("invariant: the name is on the list"))
            }

            fn write(&self, out: &mut $crate::keys::Pairs) {
                self.write(out);
            }

            fn describe(out: &mut Vec<$crate::keys::KeyInfo>) {
                $crate::part::describe($tag, Self::all_entries(), out);
            }
        }

        $crate::part::parts!(@registered $list $(else $boxed)?);
    };
}

pub use __parts as parts;
