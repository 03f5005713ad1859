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
    /// JSON of goflow2: NetFlow, IPFIX, sFlow.
    Goflow2,
    /// Sampled packets of sFlow, printed by sflowtool.
    Sflow,
    /// Packets of a capture, printed by tshark.
    Tshark,
    /// Schedules of LogGOPSim.
    Goal,
    /// Execution traces of Chakra, one file a rank.
    Chakra,
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
    /// `--from`.
    From,
    /// `--until`.
    Until,
    /// `--place`.
    Place,
    /// `--collectives`.
    Collectives,
    /// `--send-ends`.
    SendEnds,
    /// `--eager`.
    Eager,
}

impl ImportOption {
    /// Returns its flag on the command line.
    pub(super) fn flag(self) -> &'static str {
        match self {
            Self::Mss => "--mss",
            Self::Megabyte => "--megabyte",
            Self::Gap => "--gap",
            Self::Sampling => "--sampling",
            Self::Topology => "--topology",
            Self::From => "--from",
            Self::Until => "--until",
            Self::Place => "--place",
            Self::Collectives => "--collectives",
            Self::SendEnds => "--send-ends",
            Self::Eager => "--eager",
        }
    }
}

impl Format {
    /// All formats, in the order in which they are shown.
    pub const ALL: [Self; 14] = [
        Self::Hpcc,
        Self::Htsim,
        Self::HtsimUs,
        Self::Yaps,
        Self::Aequitas,
        Self::Coflow,
        Self::Nfdump,
        Self::Zeek,
        Self::Vpc,
        Self::Goflow2,
        Self::Sflow,
        Self::Tshark,
        Self::Goal,
        Self::Chakra,
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
            Self::Goflow2 => "goflow2",
            Self::Sflow => "sflow",
            Self::Tshark => "tshark",
            Self::Goal => "goal",
            Self::Chakra => "chakra",
        }
    }

    /// Returns its description in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Hpcc => {
                "flow.txt of HPCC and other ns-3 RDMA simulations; its topology.txt with --topology"
            }
            Self::Htsim => {
                "connection matrix (.cm) of htsim, starts in picoseconds, triggers as `after`; its .topo with --topology"
            }
            Self::HtsimUs => "connection matrix of older htsim, starts in microseconds",
            Self::Yaps => "trace of YAPS with 8 or 9 columns, or 5 as GEN_ONLY prints them; --mss",
            Self::Aequitas => "trace of Aequitas' YAPS: priority,size_bytes,start_s,src,dst",
            Self::Coflow => "coflow-benchmark (FB2010): mappers and reducers by port; --megabyte",
            Self::Nfdump => "CSV of nfdump (NetFlow, IPFIX), old and new columns; --gap, --sampling",
            Self::Zeek => "conn.log of Zeek, TSV or JSON lines: each direction with payload is a flow",
            Self::Vpc => {
                "VPC Flow Logs of AWS: text, default fields or a header with names, or JSON lines; --gap"
            }
            Self::Goflow2 => "JSON lines of goflow2 (NetFlow, IPFIX, sFlow); --gap, --sampling",
            Self::Sflow => {
                "sampled packets as sflowtool -L prints them, below a header with the fields; --gap"
            }
            Self::Tshark => "packets of a capture as tshark -T fields -E header=y prints them; --gap",
            Self::Goal => "schedule (.goal) of LogGOPSim: ranks that compute, send and receive; --place",
            Self::Chakra => {
                "execution traces of ASTRA-sim, FILE.0.et, FILE.1.et and so on; --place, --collectives"
            }
        }
    }

    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns whether files of this format are logs of networks, and not files of simulators.
    pub(super) fn is_log(self) -> bool {
        matches!(self, Self::Nfdump | Self::Zeek | Self::Vpc | Self::Goflow2 | Self::Sflow | Self::Tshark)
    }

    /// Returns whether it supports an option.
    pub(super) fn has(self, option: ImportOption) -> bool {
        match option {
            ImportOption::Topology => matches!(self, Self::Hpcc | Self::Htsim | Self::HtsimUs),
            ImportOption::Mss => self == Self::Yaps,
            ImportOption::Megabyte => self == Self::Coflow,
            ImportOption::Gap => self.is_log() && self != Self::Zeek,
            ImportOption::Sampling => matches!(self, Self::Nfdump | Self::Goflow2),
            ImportOption::From | ImportOption::Until => self.is_log(),
            ImportOption::Place | ImportOption::SendEnds | ImportOption::Eager => {
                matches!(self, Self::Goal | Self::Chakra)
            }
            ImportOption::Collectives => self == Self::Chakra,
        }
    }
}
