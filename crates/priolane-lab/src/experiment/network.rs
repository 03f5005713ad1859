//! `[topology]` and `[frame]`: the network of an experiment.

use std::sync::LazyLock;

use priolane_core::keys::{
    self, Bounds, Bytes, Form, KeyConflict, KeyError, KeyInfo, Keys, Schema, Value, Words, WrittenValue,
};
use priolane_core::packet::Frame;
use priolane_core::part::share;
use priolane_sim::topology::{PathChoice, Spray, Topology, TopologyError, TopologySpec};
use priolane_source::{Field, InputError, Merge, Own, Replace, SIZE_LIMIT, SharedKeys, Sources};
use serde::ser::Serializer;

/// The network as given in the file.
#[derive(Clone, Debug, PartialEq, Keys)]
pub struct Network {
    /// Its switches and links.
    #[keys(flatten)]
    pub spec: TopologySpec,
    /// Selection among equal-cost paths.
    #[key(default = Paths::Hashed)]
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

/// Describes the keys of `[topology]`, without those of its kind.
pub(super) fn describe(out: &mut Vec<KeyInfo>) {
    static KINDS: LazyLock<Vec<(&'static str, &'static str)>> =
        LazyLock::new(|| TopologySpec::entries().iter().map(|entry| (entry.name, entry.summary)).collect());
    out.push(chosen_by("kind", "The kind of network; its keys are in the same table", &KINDS));
    let mut all = Vec::new();
    Network::describe(&mut all);
    out.extend(all.into_iter().filter(|key| key.name == "paths"));
}

/// Returns the description of a key whose word chooses a part.
pub(super) fn chosen_by(
    name: &'static str,
    meaning: &'static str,
    parts: &'static [(&'static str, &'static str)],
) -> KeyInfo {
    KeyInfo {
        name,
        group: "",
        meaning,
        unit: "",
        bounds: Bounds::ANY,
        default: String::new(),
        source: "",
        required: true,
        none: None,
        schema: Schema::Words(parts),
    }
}

/// Reads `[topology]`.
pub(super) fn network(field: &Field<'_>, sources: &mut Sources) -> Result<Network, InputError> {
    let mut keys = field.key_reader()?;
    let mut network = keys.read::<Network>();
    if let (Some(Network { spec: TopologySpec::File(file), .. }), Some(path)) =
        (&mut network, field.inner("path"))
        && let Some(text) = keys.mistakes().keep(sources.read(&path, &file.path, SIZE_LIMIT))
    {
        file.text = text;
    }
    keys.finish(network)
}

/// The keys of `[frame]`, whose defaults are the values of Ethernet.
#[derive(Clone, Copy, Debug, Keys)]
#[keys(check = Self::check)]
pub(super) struct FrameKeys {
    /// Largest packet of the network layer, headers included.
    #[key(default = Frame::ETHERNET.mtu, form = PacketBytes)]
    mtu: u16,
    /// Headers of the network and transport layers in each data packet.
    #[key(default = Frame::ETHERNET.header, form = PacketBytes)]
    header: u16,
    /// Header and checksum of the link layer.
    #[key(default = Frame::ETHERNET.link, form = PacketBytes)]
    link: u16,
    /// Smallest frame of the link layer; shorter packets are padded.
    #[key(default = Frame::ETHERNET.minimum, form = PacketBytes)]
    minimum: u16,
    /// Preamble and gap between frames.
    #[key(default = Frame::ETHERNET.gap, form = PacketBytes)]
    gap: u16,
    /// ACKs and other control packets of the network layer.
    #[key(default = Frame::ETHERNET.ack, form = PacketBytes)]
    ack: u16,
    /// Packets that open a connection.
    #[key(default = Frame::ETHERNET.syn, form = PacketBytes)]
    syn: u16,
}

impl FrameKeys {
    /// Returns the frame with these sizes.
    pub(super) fn frame(self) -> Frame {
        let Self { mtu, header, link, minimum, gap, ack, syn } = self;
        Frame { mtu, header, link, minimum, gap, ack, syn }
    }

    fn of(frame: &Frame) -> Self {
        let Frame { mtu, header, link, minimum, gap, ack, syn } = *frame;
        Self { mtu, header, link, minimum, gap, ack, syn }
    }

    fn check(&mut self) -> Result<(), KeyConflict> {
        let network = self.mtu.max(self.ack).max(self.syn);
        let largest = (u32::from(network) + u32::from(self.link)).max(u32::from(self.minimum));
        if self.mtu <= self.header {
            return Err(KeyConflict::new("mtu leaves no room for payload", "an mtu above header"));
        }
        if largest + u32::from(self.gap) > u32::from(u16::MAX) {
            return Err(KeyConflict::new(
                "the largest packet exceeds 65535 bytes on the wire",
                "a smaller mtu, link or gap",
            ));
        }
        if self.header == 0 || self.ack == 0 || self.syn == 0 {
            return Err(KeyConflict::new("header, ack or syn is zero", "sizes above zero, such as \"40B\""));
        }
        Ok(())
    }
}

/// Bytes of a packet, at most 65535.
#[derive(Clone, Copy, Debug)]
struct PacketBytes;

impl Form<u16> for PacketBytes {
    const UNIT: &'static str = "B";

    fn read(value: &Value<'_>, _: &Bounds) -> Result<u16, KeyError> {
        let bytes: u64 = Bytes::read(value, &Bounds::ANY)?;
        u16::try_from(bytes).map_err(|_| {
            KeyError::new(
                "the size is above 65535 bytes, the largest packet",
                "a smaller size, such as \"1500B\"",
            )
        })
    }

    fn write(value: &u16) -> WrittenValue {
        Bytes::write(value)
    }

    fn schema() -> Schema {
        Schema::Quantity("1500B")
    }
}

/// Serializes a frame as in files.
pub(super) fn frame_text<S: Serializer>(frame: &Frame, s: S) -> Result<S::Ok, S::Error> {
    keys::serialize(&FrameKeys::of(frame), s)
}
