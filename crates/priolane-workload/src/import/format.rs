//! The formats of flow lists, and the options that each needs from the user.

/// A format of flow lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `flow.txt` of HPCC's ns-3 and its relatives.
    Hpcc,
    /// Connection matrices of htsim, `start` in picoseconds.
    Htsim,
    /// Older connection matrices of htsim, `start` in microseconds.
    HtsimUs,
    /// Traces of YAPS.
    Yaps,
    /// Traces of Aequitas' YAPS.
    Aequitas,
    /// The coflow benchmark's trace.
    Coflow,
    /// CSV of nfdump: NetFlow, IPFIX.
    Nfdump,
    /// `conn.log` of Zeek.
    Zeek,
    /// VPC Flow Logs of AWS.
    Vpc,
    /// Sampled packets of sFlow, printed by sflowtool.
    Sflow,
    /// Packets of a capture, printed by tshark.
    Tshark,
}

/// An option that some formats need from the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportOption {
    /// `--mss`.
    Mss,
    /// `--megabyte`.
    Megabyte,
    /// `--gap`.
    Gap,
    /// `--sampling`.
    Sampling,
    /// `--topology`.
    Topology,
}

impl Format {
    /// All formats, in the order in which they are shown.
    pub const ALL: [Self; 11] = [
        Self::Hpcc,
        Self::Htsim,
        Self::HtsimUs,
        Self::Yaps,
        Self::Aequitas,
        Self::Coflow,
        Self::Nfdump,
        Self::Zeek,
        Self::Vpc,
        Self::Sflow,
        Self::Tshark,
    ];

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hpcc => "hpcc",
            Self::Htsim => "htsim",
            Self::HtsimUs => "htsim-us",
            Self::Yaps => "yaps",
            Self::Aequitas => "aequitas",
            Self::Coflow => "coflow",
            Self::Nfdump => "nfdump",
            Self::Zeek => "zeek",
            Self::Vpc => "vpc",
            Self::Sflow => "sflow",
            Self::Tshark => "tshark",
        }
    }

    /// Returns its description in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Hpcc => {
                "flow.txt of HPCC and other ns-3 RDMA simulations; its topology.txt with --topology"
            }
            Self::Htsim => {
                "connection matrix (.cm) of htsim, starts in picoseconds; triggers become the column `after`"
            }
            Self::HtsimUs => "connection matrix of older htsim, starts in microseconds",
            Self::Yaps => "trace of YAPS with 8 or 9 columns, or 5 as GEN_ONLY prints them; --mss",
            Self::Aequitas => "trace of Aequitas' YAPS: priority,size_bytes,start_s,src,dst",
            Self::Coflow => "coflow-benchmark (FB2010): mappers and reducers by port; --megabyte",
            Self::Nfdump => "CSV of nfdump (NetFlow, IPFIX), old and new columns; --gap, --sampling",
            Self::Zeek => "conn.log of Zeek as TSV: each direction with payload is a flow",
            Self::Vpc => "VPC Flow Logs of AWS as text, default fields or a header with names; --gap",
            Self::Sflow => {
                "sampled packets as sflowtool -L prints them, below a header with the fields; --gap"
            }
            Self::Tshark => "packets of a capture as tshark -T fields -E header=y prints them; --gap",
        }
    }

    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the options that it supports.
    pub(super) fn knobs(self) -> &'static [ImportOption] {
        match self {
            Self::Hpcc => &[ImportOption::Topology],
            Self::Yaps => &[ImportOption::Mss],
            Self::Coflow => &[ImportOption::Megabyte],
            Self::Nfdump => &[ImportOption::Gap, ImportOption::Sampling],
            Self::Vpc | Self::Sflow | Self::Tshark => &[ImportOption::Gap],
            Self::Htsim | Self::HtsimUs | Self::Aequitas | Self::Zeek => &[],
        }
    }
}
