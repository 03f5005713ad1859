//! Files that are not text, by their first bytes.

/// A kind of file that is not read, and what makes text of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binary {
    begins: &'static [&'static [u8]],
    /// The format of the file, as a clause.
    pub(super) what: &'static str,
    /// The remedy.
    pub(super) fix: &'static str,
}

const KINDS: [Binary; 5] = [
    Binary {
        // pcap in microseconds and nanoseconds, of either byte order, and pcapng.
        begins: &[
            b"\xd4\xc3\xb2\xa1",
            b"\xa1\xb2\xc3\xd4",
            b"\x4d\x3c\xb2\xa1",
            b"\xa1\xb2\x3c\x4d",
            b"\x0a\x0d\x0d\x0a",
        ],
        what: "the file is a packet capture",
        fix: "Run `zeek -C -r FILE` and then `priolane import zeek conn.log -o OUT.csv`; for exact starts, print its \
              packets with the tshark command of docs/importing.md",
    },
    Binary {
        begins: &[b"\x0c\xa5\x01\x00", b"\x0c\xa5\x02\x00"],
        what: "the file is one that nfcapd wrote",
        fix: "Print its records with nfdump -r FILE -o csv",
    },
    Binary {
        begins: &[b"\xde\xad\xbe\xef"],
        what: "the file is one of SiLK",
        fix: "Print its records with rwcut, as docs/importing.md says",
    },
    Binary { begins: &[b"PAR1"], what: "the file is Parquet", fix: "a log in plain text" },
    Binary {
        // gzip, zstd, bzip2, xz.
        begins: &[b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00"],
        what: "the file is compressed",
        fix: "Unpack it first",
    },
];

/// Returns what a file that begins with `head` is, if it is known not to be text.
pub(super) fn kind(head: &[u8]) -> Option<Binary> {
    KINDS.into_iter().find(|kind| kind.begins.iter().any(|begin| head.starts_with(begin)))
}
