//! `[topology]` and `[frame]`: the network of an experiment.

use priolane_core::keys::{Keys, Words};
use priolane_core::packet::Frame;
use priolane_core::part::share;
use priolane_sim::topology::{PathChoice, Spray, Topology, TopologyError, TopologySpec};
use priolane_source::quantity::show_bytes;
use priolane_source::{Field, InputError, Merge, Own, Replace, SIZE_LIMIT, SharedKeys, Sources};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// The network as given in the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Network {
    /// Its switches and links.
    #[serde(flatten)]
    pub spec: TopologySpec,
    /// Selection among equal-cost paths.
    pub paths: Paths,
}

/// Selection among equal-cost paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Paths {
    /// By a hash (ECMP) of entropy drawn for each flow.
    Hashed,
    /// Path `entropy mod choices`: a pair's own `path` if given, else drawn for each flow.
    Pinned,
    /// Path `splitmix64(flow) mod choices`, with the flow's index in the list.
    Splitmix64,
    /// Path `(d - s - 1) mod racks mod choices` from rack s to rack d.
    Racks,
    /// Per packet, at random at every switch with a choice.
    Spray,
    /// Per packet, round robin at every switch with a choice.
    RoundRobin,
    /// Per packet, by the queue lengths of the ports at every switch with a choice (DRILL).
    Drill,
}

impl Network {
    /// Builds the network.
    ///
    /// # Errors
    /// Returns an error if its numbers or its file are invalid.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let path_choice = match self.paths {
            Paths::Hashed => PathChoice::Hashed,
            Paths::Pinned | Paths::Splitmix64 | Paths::Racks => PathChoice::Pinned,
            Paths::Spray => PathChoice::Sprayed(Spray::Random),
            Paths::RoundRobin => PathChoice::Sprayed(Spray::RoundRobin),
            Paths::Drill => PathChoice::Sprayed(Spray::Drill),
        };
        Ok(Topology { path_choice, ..self.spec.build()? })
    }
}

/// Keys of a network that are kept when its kind changes.
pub(super) const MERGE: Merge = Merge::of(&[Replace::Kind {
    tag: "kind",
    default: None,
    own: Own::AllBut(&["paths"]),
    shared: SharedKeys::By(|old, new, key| share(&TopologySpec::entries(), [old, new], key)),
}]);

/// Reads `[topology]`.
pub(super) fn network(field: &Field<'_>, sources: &mut Sources) -> Result<Network, InputError> {
    let mut keys = field.table()?;
    let mut spec = <TopologySpec as Keys>::read(&mut keys)?;
    if let (TopologySpec::File(file), Some(path)) = (&mut spec, keys.take("path")) {
        file.text = sources.read(&path, &file.path, SIZE_LIMIT)?;
    }
    let paths = keys.word_or("paths", Paths::WORDS, Paths::Hashed)?;
    keys.finish()?;
    Ok(Network { spec, paths })
}

/// Reads `[frame]`; omitted keys have the values of Ethernet.
pub(super) fn frame(field: &Field<'_>) -> Result<Frame, InputError> {
    let mut keys = field.table()?;
    let mut size = |key, default: u16| match keys.take(key) {
        None => Ok(default),
        Some(field) => {
            let too_long = |_| {
                field.error(
                    "the size is above 65535 bytes, the largest packet",
                    "a smaller size, such as \"1500B\"",
                )
            };
            u16::try_from(field.bytes()?).map_err(too_long)
        }
    };
    let ethernet = Frame::ETHERNET;
    let frame = Frame {
        mtu: size("mtu", ethernet.mtu)?,
        header: size("header", ethernet.header)?,
        link: size("link", ethernet.link)?,
        minimum: size("minimum", ethernet.minimum)?,
        gap: size("gap", ethernet.gap)?,
        ack: size("ack", ethernet.ack)?,
        syn: size("syn", ethernet.syn)?,
    };
    let network = frame.mtu.max(frame.ack).max(frame.syn);
    let largest =
        (u32::from(network) + u32::from(frame.link)).max(u32::from(frame.minimum)) + u32::from(frame.gap);
    if frame.mtu <= frame.header {
        return Err(keys.error("mtu leaves no room for payload", "an mtu above header"));
    }
    if largest > u32::from(u16::MAX) {
        return Err(
            keys.error("the largest packet exceeds 65535 bytes on the wire", "a smaller mtu, link or gap")
        );
    }
    if frame.header == 0 || frame.ack == 0 || frame.syn == 0 {
        return Err(keys.error("header, ack or syn is zero", "sizes above zero, such as \"40B\""));
    }
    keys.finish()?;
    Ok(frame)
}

/// Serializes a frame as in files.
pub(super) fn frame_text<S: Serializer>(frame: &Frame, s: S) -> Result<S::Ok, S::Error> {
    let mut out = s.serialize_struct("frame", 7)?;
    let Frame { mtu, header, link, minimum, gap, ack, syn } = *frame;
    let named = [
        ("mtu", mtu),
        ("header", header),
        ("link", link),
        ("minimum", minimum),
        ("gap", gap),
        ("ack", ack),
        ("syn", syn),
    ];
    for (name, bytes) in named {
        out.serialize_field(name, &show_bytes(u64::from(bytes)))?;
    }
    out.end()
}
