//! The mapping from classes to queues of a port.

use crate::ids::{CLASSES, Class};
use crate::keys::{Bounds, Form, KeyError, KeyValue, Keys, NonEmpty, Schema, Value, WrittenValue};

/// Maps class c to queue c.
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
    /// Queue c for class c.
    Same,
    /// The c-th queue of the list for class c.
    List(Vec<u8>),
}

impl ClassMap {
    /// Maps class c to queue c.
    pub const IDENTITY: Self = Self { class: QueueOf::Same };

    /// Returns the queues of all classes; classes that the map does not name use the queue with their own number.
    pub fn queues(&self) -> [u8; CLASSES] {
        let mut queues = CLASS_IS_QUEUE;
        if let QueueOf::List(list) = &self.class {
            queues.iter_mut().zip(list).for_each(|(queue, &stated)| *queue = stated);
        }
        queues
    }

    /// Returns the queue of `class`; `None` if the map does not name it.
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
        let queues: Vec<u8> = NonEmpty::read(value, &Bounds::whole(0, CLASSES as u64 - 1, "[0, 15]"))?;
        if queues.len() > CLASSES {
            return Err(KeyError::new(
                format!("the list has {} classes", queues.len()),
                format!("at most {CLASSES} classes"),
            ));
        }
        Ok(Self::List(queues))
    }

    fn write(&self) -> WrittenValue {
        match self {
            Self::Same => "queue".into(),
            Self::List(queues) => queues.write(),
        }
    }

    fn schema() -> Schema {
        Schema::List(Box::new(Schema::Integer))
    }
}
