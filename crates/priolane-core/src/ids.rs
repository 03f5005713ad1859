//! Names of things: small integers with a type each.

use std::fmt;
use std::num::NonZeroU32;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $int);

        impl $name {
            /// The index this name stands for.
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
    /// A flow of the run: its line in the flow list.
    FlowId(u32)
);
id!(
    /// A host: an end of flows (at most 65,536 of them, so that a packet stays small).
    HostId(u16)
);
id!(
    /// A node of the topology: hosts come first, in order, then switches.
    NodeId(u32)
);
id!(
    /// A directed link: the port it leaves and the ingress it enters have the same name.
    LinkId(u32)
);

/// A coflow of a group: flows of which the last one counts. An optional one takes no more room than a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoflowId(NonZeroU32);

impl CoflowId {
    /// The coflow of this number; `None` for 2^32 - 1, which is none.
    pub fn new(number: u32) -> Option<Self> {
        number.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// Its number, from 0 on.
    pub fn number(self) -> u32 {
        self.0.get() - 1
    }
}

impl fmt::Debug for CoflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoflowId{}", self.number())
    }
}

/// The priority a packet carries on the wire: 0 is served first, at most 15.
pub type Class = u8;

/// Classes a packet can carry; `Class` is always below this.
pub const CLASSES: usize = 16;

/// A set of classes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ClassSet(pub u16);

impl ClassSet {
    /// No class.
    pub const NONE: Self = Self(0);

    /// Whether `class` is in it.
    #[inline]
    pub const fn has(self, class: Class) -> bool {
        self.0 >> (class % CLASSES as u8) & 1 != 0
    }

    /// This set and `class`.
    #[inline]
    #[must_use]
    pub const fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << (class % CLASSES as u8))
    }

    /// This set without `class`.
    #[inline]
    #[must_use]
    pub const fn without(self, class: Class) -> Self {
        Self(self.0 & !(1 << (class % CLASSES as u8)))
    }

    /// Its classes, smallest first.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let class = left.trailing_zeros() as Class;
            left &= left.checked_sub(1)?;
            Some(class)
        })
    }
}
