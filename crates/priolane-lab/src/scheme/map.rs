//! Which queue of a port a class goes to.

use priolane_core::ids::CLASSES;
use priolane_source::{Field, InputError};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Which queue of a port a class goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Map {
    /// Class `c` to queue `c`.
    Identity,
    /// Class `c` to the `c`-th queue of the list.
    List(Vec<u8>),
}

impl Map {
    /// The queue of `class`; `None` if the map says nothing of it.
    pub fn queue(&self, class: u8) -> Option<u8> {
        match self {
            Self::Identity => Some(class),
            Self::List(queues) => queues.get(usize::from(class)).copied(),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(1))?;
        match self {
            Self::Identity => map.serialize_entry("class", "queue")?,
            Self::List(queues) => map.serialize_entry("class", queues)?,
        }
        map.end()
    }
}

pub(super) fn read(field: &Field<'_>) -> Result<Map, InputError> {
    let mut keys = field.table()?;
    let class = keys.need("class", "class = \"queue\"")?;
    keys.finish()?;
    match class.text() {
        Ok("queue") => return Ok(Map::Identity),
        Ok(text) => return Err(class.no_such(text, &["queue"])),
        Err(_) => {}
    }
    let items = class.filled_list()?;
    if items.len() > CLASSES {
        return Err(class.error(format!("{} classes", items.len()), format!("at most {CLASSES}")));
    }
    let queues = items.iter().map(|item| Ok(item.integer(0, CLASSES as u64 - 1)? as u8));
    queues.collect::<Result<_, InputError>>().map(Map::List)
}
