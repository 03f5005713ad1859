//! The wire format of Protocol Buffers, as far as traces need it: varints, bytes, and numbers of 4 and 8 bytes.
//!
//! A trace has nine fields of interest among dozens, so fields are taken as they come, and no message is kept whole.

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A varint, or a number of 4 or 8 bytes.
    Number(u64),
    /// A text, a message, or packed numbers.
    Bytes(&'a [u8]),
}

/// The fields of a message, in their order: number and value. An item is `None` once for bytes that are no message.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let key = varint(&mut self.0)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut self.0)?),
            1 => Value::Number(u64::from_le_bytes(take(&mut self.0, 8)?.try_into().ok()?)),
            2 => {
                let size = usize::try_from(varint(&mut self.0)?).ok()?;
                Value::Bytes(take(&mut self.0, size)?)
            }
            5 => Value::Number(u64::from(u32::from_le_bytes(take(&mut self.0, 4)?.try_into().ok()?))),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

/// Takes a varint from the front of `bytes`; `None` if it is cut or above 64 bits.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 127);
        if bits > u64::MAX >> shift {
            return None;
        }
        value |= bits << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Returns the numbers of a repeated field, which are packed or one by one; `None` if they are cut.
pub(super) fn numbers(value: Value<'_>) -> Option<Vec<u64>> {
    match value {
        Value::Number(number) => Some(vec![number]),
        Value::Bytes(mut bytes) => {
            let mut numbers = Vec::new();
            while !bytes.is_empty() {
                numbers.push(varint(&mut bytes)?);
            }
            Some(numbers)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A varint: seven bits a byte, the lowest first, and a bit for "more follow".
    fn encoded(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 128 {
            bytes.push(number as u8 | 128);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }

    #[test]
    fn a_number_of_64_bits_is_read_whole_and_one_of_65_is_refused() {
        let largest = encoded(u64::MAX);
        assert_eq!((largest.len(), varint(&mut &largest[..])), (10, Some(u64::MAX)));
        // The tenth byte has one bit of the number.
        for tenth in [2, 3, 127] {
            let beyond = [&largest[..9], &[tenth]].concat();
            assert_eq!(varint(&mut &beyond[..]), None, "{tenth}");
        }
    }

    #[test]
    fn packed_numbers_are_read_to_the_last_and_none_is_read_of_cut_ones() {
        let written = [0, 1, 127, 128, 300, 1 << 35, u64::MAX];
        let mut bytes = Vec::new();
        let mut ends = vec![0];
        for number in written {
            bytes.extend(encoded(number));
            ends.push(bytes.len());
        }
        for length in 0..=bytes.len() {
            let whole = ends.iter().position(|&end| end == length).map(|count| written[..count].to_vec());
            assert_eq!(numbers(Value::Bytes(&bytes[..length])), whole, "{length} of {} bytes", bytes.len());
        }
        assert_eq!(numbers(Value::Number(7)), Some(vec![7]));
    }
}
