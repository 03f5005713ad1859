//! Identifiers: small integers with a type each.

use std::fmt;
use std::num::NonZeroU32;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $int);

        impl $name {
            /// Returns the identifier as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "{}"), self.0)
            }
        }
    };
}

id!(
    /// A flow of the run. By default its index in the flow list.
    FlowId(u32)
);
id!(
    /// A host: the source or destination of flows. At most 65,536 hosts, so that packets stay small.
    HostId(u16)
);
id!(
    /// A node of the topology. Hosts come first, in order, then switches.
    NodeId(u32)
);
id!(
    /// A directed link. Its egress port and its ingress port have the same identifier.
    LinkId(u32)
);

/// Defines an identifier whose `Option` takes as much memory, so that the number 2^32 - 1 is reserved.
macro_rules! optional_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// Returns the identifier with this number; `None` for 2^32 - 1, which is reserved.
            pub fn new(number: u32) -> Option<Self> {
                number.checked_add(1).and_then(NonZeroU32::new).map(Self)
            }

            /// Returns its number, from 0.
            pub fn number(self) -> u32 {
                self.0.get() - 1
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "{}"), self.number())
            }
        }
    };
}

optional_id!(
    /// A coflow of a group: flows that are complete when the last of them is. `Option<CoflowId>` takes 4 bytes.
    CoflowId
);

optional_id!(
    /// A connection between two hosts, which carries several flows one after the other. `Option<ConnectionId>` takes 4
    /// bytes.
    ConnectionId
);

/// Priority on the wire: 0 is served first, the maximum is 15.
pub type Class = u8;

/// Number of classes that a packet can carry; `Class` is always below this.
pub const CLASSES: usize = 16;

/// A set of classes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ClassSet(pub u16);

impl ClassSet {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Returns whether the set contains `class`.
    #[inline]
    pub const fn has(self, class: Class) -> bool {
        self.0 >> (class % CLASSES as u8) & 1 != 0
    }

    /// Returns this set with `class` added.
    #[inline]
    #[must_use]
    pub const fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << (class % CLASSES as u8))
    }

    /// Returns this set with `class` removed.
    #[inline]
    #[must_use]
    pub const fn without(self, class: Class) -> Self {
        Self(self.0 & !(1 << (class % CLASSES as u8)))
    }

    /// Iterates over the classes of the set, smallest first.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let class = left.trailing_zeros() as Class;
            left &= left.checked_sub(1)?;
            Some(class)
        })
    }
}
