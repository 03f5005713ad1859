//! The mapping between classes and DSCPs.

use priolane_core::ids::{CLASSES, Class};

/// The number of DSCPs.
const DSCPS: usize = 64;

/// The DSCP of each class, and the class of each DSCP. All hosts that exchange messages must use the same mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dscp {
    of: [u8; CLASSES],
    class: [Class; DSCPS],
}

/// The error for a number above 63, which is not a DSCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("class {class} has DSCP {dscp}: write one from 0 to 63")]
pub struct DscpError {
    /// The class that the number was given for.
    pub class: Class,
    /// The number.
    pub dscp: u8,
}

impl Dscp {
    /// The default, in which class `c` has DSCP `60 - 4 c`. Each class has a DSCP of its own, and a better class never
    /// has a smaller DSCP. Two classes share each of the 8 class selectors.
    pub const DEFAULT: Self = {
        let mut of = [0; CLASSES];
        let mut class = 0;
        while class < CLASSES {
            of[class] = 60 - 4 * class as u8;
            class += 1;
        }
        Self::inverted(of)
    };

    /// Creates a mapping from the DSCP of each class, class 0 first. A datagram whose DSCP several classes share
    /// arrives in the best of them, and one whose DSCP no class has arrives in the last class.
    ///
    /// # Errors
    /// Returns an error if a number is above 63.
    pub fn new(of: [u8; CLASSES]) -> Result<Self, DscpError> {
        match of.iter().position(|&dscp| usize::from(dscp) >= DSCPS) {
            Some(class) => Err(DscpError { class: class as Class, dscp: of[class] }),
            None => Ok(Self::inverted(of)),
        }
    }

    const fn inverted(of: [u8; CLASSES]) -> Self {
        let mut classes = [CLASSES as Class - 1; DSCPS];
        let mut class = CLASSES;
        while class > 0 {
            class -= 1;
            classes[of[class] as usize] = class as Class;
        }
        Self { of, class: classes }
    }

    /// Returns the DSCP of `class`. A class beyond the last one has the DSCP of the last one.
    pub fn of(&self, class: Class) -> u8 {
        self.of[usize::from(class).min(CLASSES - 1)]
    }

    /// Returns the class of the DSCP in a TOS byte.
    pub fn class(&self, tos: u8) -> Class {
        self.class[usize::from(tos >> 2)]
    }
}

impl Default for Dscp {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_every_class_arrives_as_it_was_sent() {
        for class in 0..CLASSES as Class {
            let dscp = Dscp::DEFAULT.of(class);
            assert_eq!(Dscp::DEFAULT.class(dscp << 2 | 0b11), class);
        }
        assert_eq!((Dscp::DEFAULT.of(0), Dscp::DEFAULT.of(15)), (60, 0));
    }

    #[test]
    fn classes_that_share_a_dscp_arrive_as_the_best_of_them() {
        let dscp = Dscp::new([46, 46, 10, 10, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!([46, 10, 0, 63].map(|of| dscp.class(of << 2)), [0, 2, 5, 15]);
        let mut wrong = [0; CLASSES];
        wrong[3] = 64;
        assert_eq!(Dscp::new(wrong), Err(DscpError { class: 3, dscp: 64 }));
    }
}
