//! Reads and writes little-endian integers.

use super::error::DecodeError;

/// The unread bytes of a datagram. Each integer is read under the name of its field; the error names the field if the
/// datagram ends before it.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `datagram`.
    pub fn new(datagram: &'a [u8]) -> Self {
        Self { left: datagram }
    }

    /// Returns the unread bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.left
    }

    fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let (bytes, left) = self.left.split_first_chunk().ok_or(DecodeError::Truncated { field })?;
        self.left = left;
        Ok(*bytes)
    }

    /// Reads the next byte.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        self.take(field).map(u8::from_le_bytes)
    }

    /// Reads the next 2 bytes.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        self.take(field).map(u16::from_le_bytes)
    }

    /// Reads the next 4 bytes.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        self.take(field).map(u32::from_le_bytes)
    }

    /// Reads the next 6 bytes.
    pub fn u48(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        let [a, b, c, d, e, f] = self.take(field)?;
        Ok(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
    }

    /// Reads the next 8 bytes.
    pub fn u64(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        self.take(field).map(u64::from_le_bytes)
    }
}

/// A buffer that is filled from its start. Bytes beyond its capacity are counted but not written.
#[derive(Debug)]
pub struct Writer<'a> {
    buffer: &'a mut [u8],
    written: usize,
}

impl<'a> Writer<'a> {
    /// Creates a writer at the start of `buffer`.
    pub fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, written: 0 }
    }

    /// Returns the bytes written so far, including those beyond the capacity.
    pub fn len_written(&self) -> usize {
        self.written
    }

    /// Returns the capacity of the buffer, in bytes.
    pub fn room(&self) -> usize {
        self.buffer.len()
    }

    fn put(&mut self, bytes: &[u8]) {
        let end = self.written + bytes.len();
        if let Some(room) = self.buffer.get_mut(self.written..end) {
            room.copy_from_slice(bytes);
        }
        self.written = end;
    }

    /// Writes 1 byte.
    pub fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    /// Writes 2 bytes.
    pub fn u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    /// Writes 4 bytes.
    pub fn u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    /// Writes the lower 6 bytes.
    pub fn u48(&mut self, value: u64) {
        self.put(&value.to_le_bytes()[..6]);
    }

    /// Writes 8 bytes.
    pub fn u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }
}
