use priolane_core::ids::HostId;
use priolane_core::units::Time;
use priolane_core::wire::EcnCodepoint;

use super::*;

fn keep(frames: &mut Frames, bytes: &[u8]) -> Option<u32> {
    let (src, dst) = (HostId(0), HostId(1));
    let meta = RecvMeta { src, dst, class: 0, ecn: EcnCodepoint::NotEct, at: Time(0) };
    frames.keep(bytes, meta, None)
}

#[test]
fn a_slot_that_is_free_again_holds_the_next_frame_and_nothing_of_the_last() {
    let mut frames = Frames::default();
    let slots = [b"a long frame", b"another long"].map(|bytes| keep(&mut frames, bytes).unwrap());
    assert_eq!((frames.count(), slots[0] == slots[1]), (2, false));
    frames.release(slots[0]);
    assert_eq!(frames.count(), 1);
    assert_eq!(keep(&mut frames, b"short"), Some(slots[0]));
    let stored = slots.map(|slot| frames.get_mut(slot).bytes.clone());
    assert_eq!((stored, frames.count()), ([b"short".to_vec(), b"another long".to_vec()], 2));
}

#[test]
fn the_memory_of_a_switch_without_limits_ends_with_2_to_the_16_frames() {
    let mut frames = Frames::default();
    let slots: Vec<u32> = (0..65_536).map(|_| keep(&mut frames, b"").unwrap()).collect();
    assert_eq!((keep(&mut frames, b""), frames.count()), (None, 65_536));
    frames.release(slots[77]);
    assert_eq!((keep(&mut frames, b""), keep(&mut frames, b"")), (Some(slots[77]), None));
}
