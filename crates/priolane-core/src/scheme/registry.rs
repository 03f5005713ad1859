//! Lists of parts: each kind of a row once, from which the enum, its dispatch, the names and the catalogue follow.

/// Makes an enum of parts, each with a struct of keys that implements [`super::Part`] and the trait of the list.
macro_rules! parts {
    (
        $(#[$meta:meta])*
        pub enum $list:ident: dyn $trait:ident in $row:ident {
            $($(#[$doc:meta])* $kind:ident($config:ty);)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $list {
            $($(#[$doc])* $kind($config),)*
        }

        impl $list {
            /// The names of files, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$(<$config as $crate::scheme::Part>::NAME),*];

            /// The name in files.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$kind(_) => <$config as $crate::scheme::Part>::NAME),* }
            }

            /// Reads the keys of the kind `name`; `None` where there is no such kind.
            ///
            /// # Errors
            /// Those of its keys.
            pub fn read<T: $crate::keys::Table>(name: &str, table: &mut T) -> Result<Option<Self>, T::Error> {
                $(if name == <$config as $crate::scheme::Part>::NAME {
                    return $crate::keys::Keys::read(table).map(|config| Some(Self::$kind(config)));
                })*
                Ok(None)
            }

            /// Appends its kind and its keys to `out`.
            pub fn write(&self, out: &mut $crate::keys::Pairs) {
                out.push(("kind", self.name().into()));
                match self { $(Self::$kind(config) => $crate::keys::Keys::write(config, out)),* }
            }

            /// What the catalogue says of each.
            pub fn entries() -> Vec<$crate::scheme::Entry> {
                vec![$($crate::scheme::Entry::of::<$config>($crate::scheme::Row::$row)),*]
            }

            /// What it does.
            pub fn part(&self) -> &dyn $trait {
                match self { $(Self::$kind(config) => config),* }
            }

            /// What it does, to change.
            pub fn part_mut(&mut self) -> &mut dyn $trait {
                match self { $(Self::$kind(config) => config),* }
            }
        }

        impl serde::Serialize for $list {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                let mut pairs = $crate::keys::Pairs::new();
                self.write(&mut pairs);
                s.collect_map(pairs)
            }
        }
    };
}

pub(crate) use parts;
