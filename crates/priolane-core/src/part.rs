//! What the file of an algorithm, an app or a topology declares of it as a part that files can choose, and lists of such parts.

pub use priolane_derive::Part;

use crate::keys::{Bounds, KeyInfo, Keys, Schema, Table, append_new, only_one_of};

/// Where a file chooses one part of a list: a row of a scheme, which is a question that it answers, or a table of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Row {
    /// How fast may a flow send?
    Transport,
    /// Who deserves which priority?
    Assign,
    /// Should a flow be admitted at that priority now?
    Admit,
    /// In what order does the host send?
    Host,
    /// What stands between a host's transport and its line?
    Nic,
    /// What does a switch port do?
    Port,
    /// Of an experiment: how are hosts linked?
    Topology,
    /// Of a group of an experiment: what starts flows?
    App,
}

impl Row {
    /// Those of a scheme, in the order of its file.
    pub const OF_SCHEME: [Self; 6] =
        [Self::Transport, Self::Assign, Self::Admit, Self::Host, Self::Nic, Self::Port];

    /// Its key in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::Assign => "assign",
            Self::Admit => "admit",
            Self::Host => "host",
            Self::Nic => "nic",
            Self::Port => "port",
            Self::Topology => "topology",
            Self::App => "app",
        }
    }
}

/// Something one row needs and another may give.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Capability {
    /// Switch ports mark packets of ECN-capable transports above a threshold.
    CongestionMarks,
    /// Packets carry a rank that ports can sort by: window transports write the bytes left from the packet's
    /// first byte on.
    Ranks,
    /// Flows share by weight: w of (theta, w).
    Weights,
    /// Flows keep a minimum rate, if softly: theta of (theta, w).
    MinimumRates,
    /// The host's scheduler is asked for each packet at the instant the line is free.
    PacketPull,
    /// The order of levels inside the host is kept up to the line.
    HostOrder,
    /// Packets wait in a transmit queue in the order in which the transport gave them away.
    TransmitQueue,
    /// Switch ports cut payload off rather than drop packets.
    Trimming,
    /// Switch ports limit tokens so that what they call for fits the line.
    TokenPorts,
    /// Hosts limit their tokens as switch ports do.
    TokenQueue,
    /// Queues of which single classes can be paused.
    ClassPause,
}

impl Capability {
    /// The capability as a clause, for messages.
    pub fn clause(self) -> &'static str {
        match self {
            Self::CongestionMarks => "switch ports that mark packets (ECN)",
            Self::Ranks => "packets that carry a rank",
            Self::Weights => "flows that share by weight",
            Self::MinimumRates => "flows that keep a minimum rate",
            Self::PacketPull => "a line that asks the host's scheduler for each packet",
            Self::HostOrder => "a NIC that keeps the host's order of levels",
            Self::Trimming => "switch ports that trim packets",
            Self::TransmitQueue => "a transmit queue at the NIC",
            Self::TokenPorts => "switch ports that limit tokens",
            Self::TokenQueue => "a NIC that limits tokens as switch ports do",
            Self::ClassPause => "queues of which single classes can be paused",
        }
    }
}

/// A capability that an entry gives, perhaps only if one of its parameters is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Provision {
    /// What it gives.
    pub capability: Capability,
    /// The parameter that must be set for it; `None` if it always gives it.
    pub if_set: Option<&'static str>,
}

/// How a file states which part of a list it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// A table in which a key of the list has the part's name: `{ queue = "fifo", ... }`.
    Tag,
    /// The part's name in place of a table: `"pull"`.
    Name,
    /// A table with a key of the part's name, which no other part has: `{ port = { ... }, ... }`.
    Key,
}

/// What the file of a part declares of it; `#[derive(Part)]` makes it.
pub trait Part: Keys {
    /// Its name in files.
    const NAME: &'static str;
    /// How a file states that it means this part.
    const NOTATION: Notation = Notation::Tag;
    /// What it does, in one line.
    const SUMMARY: &'static str;
    /// Paper or standard and section.
    const SOURCE: &'static str;
    /// What the other rows must give.
    const REQUIRES: &'static [Capability] = &[];
    /// What it gives the other rows.
    const PROVIDES: &'static [Capability] = &[];
}

/// The declaration of a part: its names, keys and sources.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The row it belongs to.
    pub row: Row,
    /// Its name in files.
    pub name: &'static str,
    /// How a file states that it means this part.
    pub notation: Notation,
    /// The key that has the name, of one that is stated by a tag.
    pub tag: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Paper or standard and section.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: Vec<KeyInfo>,
    /// What the other rows must give.
    pub requires: &'static [Capability],
    /// What it gives the other rows.
    pub provides: Vec<Provision>,
}

impl Entry {
    /// What the part `P` declares of itself; its tag is `kind`.
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
        }
    }

    /// The group of its key `key`; `None` if it has no such key, or one that is of no group.
    fn group_of(&self, key: &str) -> Option<&'static str> {
        let info = self.parameters.iter().find(|info| info.name == key);
        info.map(|info| info.group).filter(|group| !group.is_empty())
    }

    /// It with the keys `K` after its own.
    #[must_use]
    pub(crate) fn followed_by<K: Keys>(mut self) -> Self {
        K::describe(&mut self.parameters);
        self
    }
}

/// Whether the parts of `entries` called `old` and `new` have `key` in one group: then it keeps its value where one takes the
/// place of the other.
pub fn share<'e>(
    entries: impl IntoIterator<Item = &'e Entry> + Clone,
    [old, new]: [&str; 2],
    key: &str,
) -> bool {
    let group = |name| entries.clone().into_iter().find(|entry| entry.name == name)?.group_of(key);
    group(old).is_some() && group(old) == group(new)
}

/// Takes the word under `tag`, which is one of `names`.
///
/// # Errors
/// That it is none of them, or missing.
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

/// Which of `parts` a table means: the word under `tag` says it, or the key of its name.
///
/// # Errors
/// It means none of them, or more than one.
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

/// Describes the key `tag`, whose word says which part of a list it is, and the keys of `entries`.
pub fn describe(tag: &'static str, entries: Vec<Entry>, out: &mut Vec<KeyInfo>) {
    out.push(KeyInfo {
        name: tag,
        group: tag,
        meaning: "Which one; its keys stand in the same table",
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

/// Makes of a list of parts the enum of them: each has a struct of keys that implements [`Part`] and the trait of the list. The
/// word that says which part it is stands under `kind`, or another key: `by "solver"`; a part of another [`Notation`] says so in
/// its declaration. `else` names the variant of what is not on
/// the list: a box of a trait that has `name` and `write` of its own; a list without such a variant implements [`Keys`].
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
    (@keys $list:ident by $tag:literal) => {
        impl $crate::keys::Keys for $list {
            fn read<T: $crate::keys::Table>(table: &mut T) -> Result<Self, T::Error> {
                let name = $crate::part::choose(table, $tag, Self::PARTS)?;
                Self::read(name, table).map(|read| read.expect("invariant: the name is on the list"))
            }

            fn write(&self, out: &mut $crate::keys::Pairs) {
                self.write(out);
            }

            fn describe(out: &mut Vec<$crate::keys::KeyInfo>) {
                $crate::part::describe($tag, Self::entries(), out);
            }
        }
    };
    (@keys $list:ident by $tag:literal else $other:ident) => {};
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
            /// The names of files, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$(<$config as $crate::part::Part>::NAME),*];

            /// The names of files, each with how a file states it, in the order of the list.
            pub const PARTS: &'static [(&'static str, $crate::part::Notation)] =
                &[$((<$config as $crate::part::Part>::NAME, <$config as $crate::part::Part>::NOTATION)),*];

            /// How a file states it.
            pub fn notation(&self) -> $crate::part::Notation {
                match self {
                    $(Self::$kind(_) => <$config as $crate::part::Part>::NOTATION,)*
                    $(Self::$other(_) => $crate::part::Notation::Tag,)?
                }
            }

            /// The name in files.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$config as $crate::part::Part>::NAME,)*
                    $(Self::$other(other) => other.name(),)?
                }
            }

            /// Reads the keys of the kind `name`; `None` where there is no such kind.
            ///
            /// # Errors
            /// Those of its keys.
            pub fn read<T: $crate::keys::Table>(name: &str, table: &mut T) -> Result<Option<Self>, T::Error> {
                $(if name == <$config as $crate::part::Part>::NAME {
                    return $crate::keys::Keys::read(table).map(|config| Some(Self::$kind(config)));
                })*
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

            /// What the catalogue says of each.
            pub fn entries() -> Vec<$crate::part::Entry> {
                vec![$($crate::part::Entry {
                    tag: $tag,
                    ..$crate::part::Entry::of::<$config>($crate::part::Row::$row)
                }),*]
            }

            /// What it does.
            pub fn part(&self) -> &dyn $trait {
                match self {
                    $(Self::$kind(config) => config,)*
                    $(Self::$other(other) => <$boxed as std::ops::Deref>::deref(other),)?
                }
            }

            /// What it does, to change.
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

        $crate::part::parts!(@keys $list by $tag $(else $other)?);
    };
}

pub use __parts as parts;
