//! Socket addresses in the representation of the kernel.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// The sizes of `sockaddr_in` and `sockaddr_in6` in bytes.
const V4: usize = size_of::<libc::sockaddr_in>();
const V6: usize = size_of::<libc::sockaddr_in6>();

/// A `sockaddr_in` or `sockaddr_in6`.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    bytes: [u8; V6],
}

impl Address {
    /// An empty address, into which the kernel writes an answer.
    pub(super) const EMPTY: Self = Self { bytes: [0; V6] };

    /// The number of bytes that the kernel may write.
    pub(super) const ROOM: libc::socklen_t = V6 as libc::socklen_t;

    /// Converts `address`, and returns the number of bytes that are used.
    pub(super) fn of(address: SocketAddr) -> (Self, libc::socklen_t) {
        let mut bytes = [0; V6];
        bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
        let (family, len) = match address {
            SocketAddr::V4(v4) => {
                bytes[4..8].copy_from_slice(&v4.ip().octets());
                (libc::AF_INET, V4)
            }
            SocketAddr::V6(v6) => {
                bytes[4..8].copy_from_slice(&v6.flowinfo().to_be_bytes());
                bytes[8..24].copy_from_slice(&v6.ip().octets());
                bytes[24..28].copy_from_slice(&v6.scope_id().to_ne_bytes());
                (libc::AF_INET6, V6)
            }
        };
        bytes[..2].copy_from_slice(&(family as libc::sa_family_t).to_ne_bytes());
        (Self { bytes }, len as libc::socklen_t)
    }

    /// Returns the address that the kernel wrote, or `None` if it is of another family.
    pub(super) fn read(&self) -> Option<SocketAddr> {
        let array = |at: usize| [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]];
        let port = u16::from_be_bytes([self.bytes[2], self.bytes[3]]);
        match i32::from(libc::sa_family_t::from_ne_bytes([self.bytes[0], self.bytes[1]])) {
            libc::AF_INET => Some(SocketAddrV4::new(Ipv4Addr::from(array(4)), port).into()),
            libc::AF_INET6 => {
                let mut octets = [0; 16];
                octets.copy_from_slice(&self.bytes[8..24]);
                let (flow, scope) = (u32::from_be_bytes(array(4)), u32::from_ne_bytes(array(24)));
                Some(SocketAddrV6::new(Ipv6Addr::from(octets), port, flow, scope).into())
            }
            _ => None,
        }
    }

    /// Returns whether both addresses are the same.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }

    pub(super) fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.bytes).cast()
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::sockaddr {
        (&raw mut self.bytes).cast()
    }
}

/// Returns the address family of an address.
pub(super) fn family(address: IpAddr) -> libc::c_int {
    if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_were_written() {
        for text in ["127.0.0.1:7300", "255.1.2.3:65535", "[::1]:1", "[fe80::1:2%7]:443"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(Address::of(address).0.read(), Some(address));
        }
        assert_eq!(Address::EMPTY.read(), None);
    }

    #[test]
    fn the_layout_is_that_of_the_kernel() {
        let (address, len) = Address::of("1.2.3.4:5".parse().unwrap());
        assert_eq!((len, &address.bytes[2..8]), (16, &[0, 5, 1, 2, 3, 4][..]));
        assert_eq!(std::mem::offset_of!(libc::sockaddr_in, sin_addr), 4);
        assert_eq!(std::mem::offset_of!(libc::sockaddr_in6, sin6_addr), 8);
        assert_eq!(std::mem::offset_of!(libc::sockaddr_in6, sin6_scope_id), 24);
    }
}
