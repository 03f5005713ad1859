//! The replay window: the numbers of datagrams that were received already.

/// The distance by which a datagram may fall behind the highest number received. Older datagrams are refused.
pub(super) const WINDOW: u64 = 2_048;

/// The numbers of the datagrams that were received, as in RFC 6479.
#[derive(Debug)]
pub(super) struct ReplayWindow {
    /// One more than the highest number received; 0 before the first datagram.
    next: u64,
    /// One bit for each of the last [`WINDOW`] numbers, at the number modulo the window.
    bits: [u64; WINDOW as usize / 64],
}

impl ReplayWindow {
    pub(super) const EMPTY: Self = Self { next: 0, bits: [0; WINDOW as usize / 64] };

    fn place(number: u64) -> (usize, u64) {
        ((number % WINDOW / 64) as usize, 1 << (number % 64))
    }

    /// Returns whether the datagram with this number is neither a repetition nor too old.
    pub(super) fn accepts(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        number >= self.next || number + WINDOW >= self.next && self.bits[word] & bit == 0
    }

    /// Records a number that [`Self::accepts`].
    pub(super) fn add(&mut self, number: u64) {
        if number >= self.next {
            // The numbers in between have not been received. Their bits still belong to numbers one window earlier.
            for skipped in self.next.max((number + 1).saturating_sub(WINDOW))..=number {
                let (word, bit) = Self::place(skipped);
                self.bits[word] &= !bit;
            }
            self.next = number + 1;
        }
        let (word, bit) = Self::place(number);
        self.bits[word] |= bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the window accepts `number`, which is then recorded.
    fn take(window: &mut ReplayWindow, number: u64) -> bool {
        let accepted = window.accepts(number);
        if accepted {
            window.add(number);
        }
        accepted
    }

    #[test]
    fn each_number_is_accepted_once_and_none_that_is_older_than_the_window() {
        let mut window = ReplayWindow::EMPTY;
        assert!(take(&mut window, 2_500) && !take(&mut window, 2_500));
        // 2501 - 2048 = 453.
        assert!(take(&mut window, 500) && take(&mut window, 453) && !take(&mut window, 453));
        // 452 has the bit of 2500, which is set, and 451 that of 2499, which is not.
        assert!(!take(&mut window, 452) && !take(&mut window, 451), "before the window");
        assert!(take(&mut window, 2_999) && !take(&mut window, 2_500) && take(&mut window, 2_501));
        assert!(!take(&mut window, 500));
        assert!((2_502..2_999).all(|number| take(&mut window, number)));
        assert!(!(2_502..=2_999).any(|number| take(&mut window, number)));
    }

    #[test]
    fn a_leap_over_more_than_a_window_forgets_all_numbers_before_it() {
        let mut window = ReplayWindow::EMPTY;
        assert!((0..WINDOW).all(|number| take(&mut window, number)));
        assert!(take(&mut window, 3 * WINDOW));
        assert!((2 * WINDOW + 1..3 * WINDOW).all(|number| take(&mut window, number)));
        assert!(!take(&mut window, 2 * WINDOW) && !take(&mut window, 3 * WINDOW));
    }
}
