//! Hints by which a processor loads data into its cache before that data is used.
//!
//! A hint never changes a result. There are none on processors other than x86-64, under Miri, and with the feature
//! `safe`, which leaves no `unsafe` code in this crate.

#![cfg_attr(
    all(target_arch = "x86_64", not(miri), not(feature = "safe")),
    expect(unsafe_code, reason = "the standard library has no stable hint without it")
)]

use std::ops::Range;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Hints that `value` is used soon.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_part(value, 0..size_of::<T>());
}

/// Hints that these bytes of `value` are used soon.
#[inline(always)]
pub fn prefetch_part<T>(value: &T, bytes: Range<usize>) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    for offset in bytes.clone().step_by(LINE) {
        prefetch_line(start.wrapping_add(offset));
    }
    if align_of::<T>() < LINE && bytes.len() > align_of::<T>() {
        // The last byte may be on a line of its own.
        prefetch_line(start.wrapping_add(bytes.end - 1));
    }
}

/// Hints that the cache line at `start` is used soon.
///
/// The one invariant of the `unsafe` call: a prefetch accesses no memory as far as the program can tell. It loads a line
/// if the address is mapped and is ignored if not, so that any address is sound, here one inside a live reference.
#[inline(always)]
fn prefetch_line(start: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(feature = "safe")))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE, which the instruction is part of, belongs to x86-64; any address is allowed, as above.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.cast()) };
    }
    let _ = start;
}
