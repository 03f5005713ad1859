//! Parts of other crates.
//!
//! A process registers parts before it reads its first scheme. Files then name them like the parts that are compiled
//! here. Each list that other crates can extend has one [`Registry`]:
//!
//! ```text
//! transports            transport::register    a congestion controller, with its engine (`priolane_sim::register`)
//! assignment of classes assign::register       a [`crate::assign::by_flow::Rule`]
//! admission             admit::register        a [`crate::admit::AdmissionPolicy`]
//! ports                 port::register         a [`crate::port::OfKind`], whose discipline is a [`crate::port::PortFactory`]
//! ```

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::keys::{AnyError, AnyTable, Table};
use crate::part::Entry;

/// A part of another crate, as registered before a file names it.
#[derive(Clone, Debug)]
pub struct Registration<P> {
    /// Its entry in the catalogue.
    pub entry: Entry,
    /// Reads its keys.
    pub read: ReadKeys<P>,
    /// Hash of the code that computes its results; part of the ids of its runs.
    pub code: u64,
}

/// Reads the keys of a part of another crate.
pub type ReadKeys<P> = fn(&mut dyn AnyTable) -> Result<P, AnyError>;

/// A part of another crate, as a variant of a list of parts holds it.
pub trait Registered: Sized + 'static {
    /// Returns the parts of this list that other crates have registered.
    fn registry() -> &'static Registry<Self>;
}

/// The reason why a part cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegisterError {
    /// Schemes have been read already, possibly with this name unknown.
    #[error("a part must be registered before the first scheme is read")]
    Late,
    /// A part with this name exists in this row.
    #[error("a part named {0:?} exists already")]
    Taken(&'static str),
}

/// The parts of other crates in one list of parts.
#[derive(Debug)]
pub struct Registry<P: 'static> {
    pending: Mutex<Vec<Registration<P>>>,
    registered: OnceLock<Vec<Registration<P>>>,
}

impl<P> Registry<P> {
    pub(crate) const fn new() -> Self {
        Self { pending: Mutex::new(Vec::new()), registered: OnceLock::new() }
    }

    /// Adds a part to a list that has parts named `listed`.
    ///
    /// # Errors
    /// Fails as [`RegisterError`] describes.
    pub(crate) fn add(&self, registration: Registration<P>, listed: &[&str]) -> Result<(), RegisterError> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let name = registration.entry.name;
        let registered = self.registered.get();
        let mut known = pending.iter().chain(registered.into_iter().flatten());
        if listed.contains(&name) || known.any(|other| other.entry.name == name) {
            return Err(RegisterError::Taken(name));
        }
        if registered.is_some() {
            return Err(RegisterError::Late);
        }
        pending.push(registration);
        Ok(())
    }

    /// Returns the parts. After the first call none can be added.
    pub fn all(&self) -> &[Registration<P>] {
        let take = || std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.registered.get_or_init(take)
    }

    /// Iterates over the names of the parts.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all().iter().map(|part| part.entry.name)
    }

    /// Returns the part of this name; `None` if none is registered.
    pub fn named(&self, name: &str) -> Option<&Registration<P>> {
        self.all().iter().find(|part| part.entry.name == name)
    }

    /// Reads the keys of the part `name`; `None` if there is no such part.
    ///
    /// # Errors
    /// An error of its keys.
    pub fn read<T: Table>(&self, name: &str, table: &mut T) -> Result<Option<P>, T::Error> {
        let Some(part) = self.named(name) else { return Ok(None) };
        (part.read)(table).map(Some).map_err(AnyError::of::<T>)
    }
}

/// Defines the trait of boxed parts of other crates in a list of `dyn $part`, for all types with such a part's traits, and
/// the registry of these parts.
macro_rules! registered_parts {
    ($(#[$doc:meta])* pub trait $boxed:ident: $part:ident in $row:ident;) => {
        $(#[$doc])*
        pub trait $boxed: $part + Send + Sync {
            /// Returns its name in files.
            fn name(&self) -> &'static str;

            /// Appends its keys to `out`.
            fn write(&self, out: &mut $crate::keys::Pairs);

            /// Returns which of its settings do not go together on a network, as [`crate::part::Part::findings`].
            fn findings(&self, network: &$crate::finding::NetworkFacts<'_>) -> Vec<$crate::finding::Finding>;

            /// Clones it into a new box.
            fn boxed(&self) -> Box<dyn $boxed>;

            /// Returns true if `other` is the same part with the same keys.
            fn equals(&self, other: &dyn $boxed) -> bool;

            /// Returns its keys, for those who know their type.
            fn as_any(&self) -> &dyn std::any::Any;
        }

        impl<P> $boxed for P
        where
            P: $part + $crate::part::Part + Clone + PartialEq + Send + Sync + 'static,
        {
            fn name(&self) -> &'static str {
                P::NAME
            }

            fn write(&self, out: &mut $crate::keys::Pairs) {
                $crate::keys::Keys::write(self, out);
            }

            fn findings(&self, network: &$crate::finding::NetworkFacts<'_>) -> Vec<$crate::finding::Finding> {
                $crate::part::Part::findings(self, network)
            }

            fn boxed(&self) -> Box<dyn $boxed> {
                Box::new(self.clone())
            }

            fn equals(&self, other: &dyn $boxed) -> bool {
                other.as_any().downcast_ref() == Some(self)
            }

            fn as_any(&self) -> &dyn std::any::Any {
                self
            }
        }

        impl dyn $boxed {
            /// Adds the part `P` to a list that has parts named `listed`. `code` is the hash of its code.
            ///
            /// # Errors
            /// Fails as [`$crate::registry::RegisterError`] describes.
            pub(crate) fn register<P>(
                code: u64,
                listed: &[&str],
            ) -> Result<(), $crate::registry::RegisterError>
            where
                P: $part + $crate::part::Part + Clone + PartialEq + Send + Sync + 'static,
            {
                let read: $crate::registry::ReadKeys<Box<dyn $boxed>> =
                    |table| Ok(Box::new(P::read(&mut $crate::keys::DynTable(table))?));
                let entry = $crate::part::Entry::of::<P>($crate::part::Row::$row);
                let registration = $crate::registry::Registration { entry, read, code };
                <Box<dyn $boxed> as $crate::registry::Registered>::registry().add(registration, listed)
            }
        }

        impl $crate::registry::Registered for Box<dyn $boxed> {
            fn registry() -> &'static $crate::registry::Registry<Self> {
                static PARTS: $crate::registry::Registry<Box<dyn $boxed>> = $crate::registry::Registry::new();
                &PARTS
            }
        }

        impl Clone for Box<dyn $boxed> {
            fn clone(&self) -> Self {
                (**self).boxed()
            }
        }

        impl PartialEq for dyn $boxed {
            fn eq(&self, other: &Self) -> bool {
                self.equals(other)
            }
        }
    };
}

pub(crate) use registered_parts;
