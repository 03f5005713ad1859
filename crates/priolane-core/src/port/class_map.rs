//! Which queue of a port a class goes to.

use crate::ids::{CLASSES, Class};
use crate::keys::{Bounds, Filled, Form, KeyError, KeyValue, Keys, Schema, Value, Written};

/// Class c goes to queue c.
pub const CLASS_IS_QUEUE: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The key `map` of a scheme: `{ class = "queue" }` or `{ class = [0, 0, 1] }`.
#[derive(Clone, Debug, PartialEq, Eq, Keys)]
#[keys(group = "map")]
pub struct ClassMap {
    /// The queue of each class, class 0 first, or `"queue"` for class c to queue c.
    #[key(required = "class = \"queue\"", source = "docs/assumptions.md#classes")]
    pub class: QueueOf,
}

/// The queue, or rank, of each class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueOf {
    /// Class c to queue c.
    Same,
    /// Class c to the c-th queue of the list.
    List(Vec<u8>),
}

impl ClassMap {
    /// Class c to queue c.
    pub const IDENTITY: Self = Self { class: QueueOf::Same };

    /// The queues of all classes; those that the map does not name go to the queue of their own number.
    pub fn queues(&self) -> [u8; CLASSES] {
        let mut queues = CLASS_IS_QUEUE;
        if let QueueOf::List(list) = &self.class {
            queues.iter_mut().zip(list).for_each(|(queue, &stated)| *queue = stated);
        }
        queues
    }

    /// The queue of `class`; `None` if the map does not name it.
    pub fn queue(&self, class: Class) -> Option<u8> {
        match &self.class {
            QueueOf::Same => Some(class),
            QueueOf::List(queues) => queues.get(usize::from(class)).copied(),
        }
    }
}

impl KeyValue for QueueOf {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        if let Value::Text(_) = value {
            return value.word(&[("queue", ())]).map(|()| Self::Same);
        }
        let queues: Vec<u8> = Filled::read(value, &Bounds::whole(0, CLASSES as u64 - 1, "[0, 15]"))?;
        if queues.len() > CLASSES {
            return Err(KeyError::new(format!("{} classes", queues.len()), format!("at most {CLASSES}")));
        }
        Ok(Self::List(queues))
    }

    fn write(&self) -> Written {
        match self {
            Self::Same => "queue".into(),
            Self::List(queues) => queues.write(),
        }
    }

    fn schema() -> Schema {
        Schema::List(Box::new(Schema::Integer))
    }
}
