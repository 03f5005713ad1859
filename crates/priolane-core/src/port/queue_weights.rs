//! Weights of queues, as exact integers.

use crate::ids::CLASSES;
use crate::keys::{Bounds, KeyError, KeyValue, Schema, Value, WrittenValue};

/// The weights of a port's queues, integers above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueWeights {
    pub(super) queues: u8,
    pub(super) of: [u32; CLASSES],
}

impl QueueWeights {
    /// Upper bound of the least common multiple of the weights of a port.
    pub(crate) const MAX_MULTIPLE: u64 = 1 << 40;

    /// Creates one weight per queue, queue 0 first. `None` unless there are 1 to 16 weights, all above zero, with a
    /// least common multiple of at most [`QueueWeights::MAX_MULTIPLE`].
    pub fn new(weights: &[u32]) -> Option<Self> {
        let mut of = [1; CLASSES];
        of.get_mut(..weights.len())?.copy_from_slice(weights);
        let weights = Self { queues: weights.len() as u8, of };
        (weights.queues > 0 && weights.multiple().is_some()).then_some(weights)
    }

    /// Returns the number of queues.
    pub fn queues(&self) -> u8 {
        self.queues
    }

    /// Returns one weight per queue.
    pub fn as_slice(&self) -> &[u32] {
        &self.of[..usize::from(self.queues)]
    }

    /// Returns the least common multiple if it is at most [`QueueWeights::MAX_MULTIPLE`].
    pub(super) fn multiple(&self) -> Option<u64> {
        self.as_slice().iter().try_fold(1u64, |multiple, &weight| {
            let weight = u64::from(weight);
            let step = weight.checked_div(common_divisor(multiple, weight))?;
            let next = multiple.checked_mul(step)?;
            (weight > 0 && next <= Self::MAX_MULTIPLE).then_some(next)
        })
    }
}

impl KeyValue for QueueWeights {
    const UNIT: &'static str = "";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<Self, KeyError> {
        let weights = Vec::<u32>::read(value, &Bounds::whole(1, u64::from(u32::MAX), "[1, 4294967295]"))?;
        if weights.is_empty() || weights.len() > CLASSES {
            let fix = format!("one weight per queue, 1 to {CLASSES}");
            return Err(KeyError::new(format!("the list has {} weights", weights.len()), fix));
        }
        Self::new(&weights).ok_or_else(|| {
            let what =
                "the least common multiple of these weights is above 2^40, so shares would not be exact";
            KeyError::new(what, "smaller weights, such as [8, 4, 1]")
        })
    }

    fn write(&self) -> WrittenValue {
        WrittenValue::List(self.as_slice().iter().map(KeyValue::write).collect())
    }

    fn schema() -> Schema {
        Schema::List(Box::new(Schema::Integer))
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
