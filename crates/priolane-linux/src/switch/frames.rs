//! The frames of packets that wait.

use priolane_core::packet::Marks;
use priolane_core::wire::RecvMeta;

/// The largest number of frames, which a switch with unlimited ports stores.
const MOST: usize = 1 << 16;

/// The frame of a packet, and the properties that were read when the frame arrived.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Vec<u8>,
    pub(super) meta: RecvMeta,
    /// The marks of the packet on arrival; `None` for packets of other programs.
    pub(super) marks: Option<Marks>,
}

/// Frames by their slots.
#[derive(Debug, Default)]
pub(super) struct Frames {
    all: Vec<Frame>,
    free: Vec<u32>,
}

impl Frames {
    /// Stores a frame, and returns its slot, or `None` if there is no room.
    pub(super) fn keep(&mut self, bytes: &[u8], meta: RecvMeta, marks: Option<Marks>) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            let frame = &mut self.all[slot as usize];
            frame.bytes.clear();
            frame.bytes.extend_from_slice(bytes);
            (frame.meta, frame.marks) = (meta, marks);
            return Some(slot);
        }
        if self.all.len() >= MOST {
            return None;
        }
        self.all.push(Frame { bytes: bytes.to_vec(), meta, marks });
        Some(self.all.len() as u32 - 1)
    }

    /// Returns the frame of a slot in use.
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Frame {
        &mut self.all[slot as usize]
    }

    /// Frees a slot.
    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Returns the number of frames that are stored.
    pub(super) fn count(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests;
