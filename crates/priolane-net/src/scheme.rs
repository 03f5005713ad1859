//! The scheme of a host: a transport with its parameters, read from the same keys as in experiments.

use std::fmt;

use priolane_core::assign::DemotionThresholds;
use priolane_core::endpoint::{Endpoint, LocalHost};
use priolane_core::host::SchedulerKind;
use priolane_core::keys::{KeyConflict, KeyError, Keys, Table, Value};
use priolane_core::packet::{Body, Frame};
use priolane_core::port::{TokenGroupSpec, UnscheduledData};
use priolane_core::transport::tokens::{MAX_CLASSES, TokenSize, UNSCHEDULED_CLASS};
use priolane_core::transport::{EndpointUser, RegisteredController, Setup, Spec, Transport, window};
use priolane_core::wire::{Format, IpVersion, MtuError, PacketCodec, Ranks, codec_of};

use crate::peers::{SEAL_BYTES, Speaks};
use crate::udp_defaults::with_defaults;

/// A transport, the order in which a host sends its messages, and the dependence of classes on bytes sent. Both ends of
/// a message must use the same transport; all other fields concern the sender alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// The transport with its parameters, as given by the `transport` part of a scheme.
    pub transport: Spec,
    /// The order in which messages are sent, for transports that do not define an order.
    pub order: SchedulerKind,
    /// The increment of a message's class by its bytes sent (PIAS). Default: none.
    pub class: DemotionThresholds,
    /// The level of a message inside the host by its bytes sent, for the order `Mlfq`. Default: a single level.
    pub host_level: DemotionThresholds,
    /// Whether packets carry their rank, for switches that sort by rank; the same at all hosts. Default: no.
    pub ranks: Ranks,
}

/// The error for a wrong name or key of a transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemeError {
    /// The key, where `kind` stands for the name; `None` if the keys do not fit together.
    pub key: Option<String>,
    /// The mistake.
    pub what: String,
    /// The permitted values, or what to write instead.
    pub fix: String,
}

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        write!(f, "{}: {}", self.what, self.fix)
    }
}

impl std::error::Error for SchemeError {}

impl SchemeError {
    fn of(key: &str, error: &KeyError) -> Self {
        let at = |key: &str, what: String, fix: String| Self { key: Some(key.to_owned()), what, fix };
        match error {
            KeyError::Wrong { what, fix } => at(key, what.clone(), format!("write {fix}")),
            KeyError::Word { given, known } => {
                at(key, format!("there is no {given:?}"), format!("write one of {}", known.join(", ")))
            }
            KeyError::Item(place, error) => Self::of(&format!("{key}[{place}]"), error),
            KeyError::Key(inner, error) => Self::of(&format!("{key}.{inner}"), error),
            KeyError::Missing { key: inner, example, .. } => {
                at(&format!("{key}.{inner}"), "this key is missing".to_owned(), format!("write {example}"))
            }
            KeyError::Unknown(known) => {
                at(key, "it has another key".to_owned(), format!("its keys are {}", known.join(", ")))
            }
            KeyError::Several(errors) => match errors.first() {
                Some(first) => Self::of(key, first),
                None => at(key, "it cannot be read".to_owned(), "see `priolane keys`".to_owned()),
            },
        }
    }
}

impl From<KeyConflict> for SchemeError {
    fn from(misfit: KeyConflict) -> Self {
        Self { key: misfit.key.map(str::to_owned), what: misfit.what, fix: misfit.fix }
    }
}

/// Keys in memory, each with a flag for whether it was read.
struct Settings<'a> {
    name: &'a str,
    keys: &'a [(&'a str, Value<'a>)],
    read: Vec<&'static str>,
}

impl Table for Settings<'_> {
    type Error = SchemeError;

    fn take<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'_>) -> Result<R, KeyError>,
    ) -> Result<Option<R>, SchemeError> {
        self.read.push(key);
        let value = match key {
            "kind" => Some(Value::Text(self.name)),
            _ => self.keys.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone()),
        };
        value.map(|value| read(value).map_err(|error| SchemeError::of(key, &error))).transpose()
    }

    fn has(&self, key: &str) -> bool {
        key == "kind" || self.keys.iter().any(|(name, _)| *name == key)
    }

    fn missing(&self, key: &'static str, example: &str) -> SchemeError {
        let what = "this key is missing".to_owned();
        SchemeError { key: Some(key.to_owned()), what, fix: format!("write {example}") }
    }

    fn refuse(&self, misfit: KeyConflict) -> SchemeError {
        misfit.into()
    }
}

/// Reads the keys of a part of a scheme, such as a transport or a port, whose `kind` is `name`.
///
/// # Errors
/// Returns an error if the kind is unknown, or if a key is unknown or out of range.
pub fn read_keys<K: Keys>(name: &str, keys: &[(&str, Value<'_>)]) -> Result<K, SchemeError> {
    let mut settings = Settings { name, keys, read: Vec::new() };
    let part = K::read(&mut settings)?;
    let known = settings.read;
    if let Some((unknown, _)) = keys.iter().find(|(key, _)| !known.contains(key)) {
        let known: Vec<&str> = known.into_iter().filter(|&key| key != "kind").collect();
        return Err(SchemeError {
            key: Some((*unknown).to_owned()),
            what: format!("{name} has no such key"),
            fix: format!("its keys are {}", known.join(", ")),
        });
    }
    Ok(part)
}

impl Scheme {
    /// Returns the transport with this name, such as `dctcp`, `swift`, `prioplus`, `paccp`, `expresspass`, `top`,
    /// `phost`, `ndp` or `homa`, with the default keys for UDP (docs/real-hosts.md). `priolane list` shows all names.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, or if a key has no default.
    pub fn named(name: &str) -> Result<Self, SchemeError> {
        Self::with(name, &[])
    }

    /// Returns the transport with this name and these keys, which are named as in the `transport` part of a scheme, and
    /// with the defaults for UDP for all other keys.
    ///
    /// # Errors
    /// Returns an error if the name or a key is unknown, or if a key is missing or out of range.
    pub fn with(name: &str, keys: &[(&str, Value<'_>)]) -> Result<Self, SchemeError> {
        Self::of_row(name, &with_defaults(name, keys))
    }

    /// Returns the transport with this name and these keys, and with the defaults of experiments for all other keys, as
    /// the `transport` part of a scheme would.
    ///
    /// # Errors
    /// Returns an error if the name or a key is unknown, or if a key is missing or out of range.
    pub fn of_row(name: &str, keys: &[(&str, Value<'_>)]) -> Result<Self, SchemeError> {
        read_keys::<Spec>(name, keys).map(Self::from)
    }

    /// Builds the transport for datagrams of at most `mtu` bytes.
    pub(crate) fn build(&self, mtu: u16, ip: IpVersion, sealed: Sealed) -> Result<SchemeSetup, BuildError> {
        let seal = if sealed == Sealed::Yes { SEAL_BYTES as u16 } else { 0 };
        let inner = mtu.saturating_sub(seal);
        let framing = Framing { mtu: inner, ip, ranks: self.ranks };
        let made = self.transport(Frame::ETHERNET).with_endpoints(framing);
        let (plain, format) = made.ok_or_else(|| self.without_format())??;
        let Frame { header, ack, syn, .. } = plain;
        let frame = Frame { mtu, header: header + seal, ack: ack + seal, syn: syn + seal, ..plain };
        self.transport.fits(&frame).map_err(|misfit| BuildError::Keys(misfit.into()))?;
        let mut transport = self.transport(frame);
        let mut tokens = None;
        if let Transport::Tokens(config) = &mut transport {
            // Here all have one size.
            let size = frame.ack_wire();
            config.token = TokenSize { least: size, most: size };
            let unscheduled = Some(UnscheduledData { class: UNSCHEDULED_CLASS, room: None });
            let data_wire = frame.max_wire();
            let classes = MAX_CLASSES;
            tokens = Some(TokenGroupSpec {
                classes,
                token_wire: size,
                data_wire,
                unscheduled,
                ..TokenGroupSpec::TOP
            });
        }
        let name = match format {
            Format::Window => "window",
            Format::WindowInt => "window, INT",
            Format::WindowRanked => "window+ranks",
            Format::Tokens | Format::ReceiverDriven => self.transport.name(),
            Format::TokensRanked if self.transport.name() == "top" => "top+ranks",
            Format::TokensRanked => "tokens+ranks",
        };
        let at_once = if tokens.is_some() { TOKEN_FLOWS } else { u32::MAX };
        Ok(SchemeSetup { transport, tokens, inner, speaks: Speaks::new(name, mtu), at_once })
    }

    /// Returns the reason why the packets of the transport have no wire format.
    fn without_format(&self) -> BuildError {
        let name = self.transport.name();
        match self.ranks {
            Ranks::Absent => BuildError::Foreign(name),
            Ranks::Carried => BuildError::Keys(SchemeError {
                key: Some("ranks".to_owned()),
                what: format!("packets of {name} carry no rank"),
                fix: "leave them out (Ranks::Absent)".to_owned(),
            }),
        }
    }

    fn transport(&self, frame: Frame) -> Transport {
        let Self { order, class, host_level, .. } = *self;
        let setup = Setup { frame, scheduler: order, class, host_level, queue_limit: None, monitor: None };
        self.transport.transport(&setup)
    }
}

impl From<Spec> for Scheme {
    fn from(transport: Spec) -> Self {
        Self {
            transport,
            order: SchedulerKind::RoundRobin,
            class: DemotionThresholds::FLAT,
            host_level: DemotionThresholds::FLAT,
            ranks: Ranks::Absent,
        }
    }
}

/// Whether datagrams are sealed with a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sealed {
    No,
    Yes,
}

/// The parameters and objects that a host needs of its scheme.
#[derive(Debug)]
pub(crate) struct SchemeSetup {
    pub(crate) transport: Transport,
    /// The token queue, if the transport has tokens.
    pub(crate) tokens: Option<TokenGroupSpec>,
    /// The MTU of the codec, which is the part of a datagram that the seal leaves.
    pub(crate) inner: u16,
    pub(crate) speaks: Speaks,
    /// The largest number of messages that are under way to one peer at once.
    pub(crate) at_once: u32,
}

/// The largest number of messages of a token transport that are under way to one peer at once. Each starts with a token
/// rate of its own, so with hundreds of messages, receivers would only hand out tokens that are dropped.
const TOKEN_FLOWS: u32 = 64;

/// The reason why a scheme cannot be built.
#[derive(Debug)]
pub(crate) enum BuildError {
    /// The transport with this name was registered by another crate.
    Foreign(&'static str),
    Mtu(MtuError),
    Keys(SchemeError),
}

impl From<MtuError> for BuildError {
    fn from(error: MtuError) -> Self {
        Self::Mtu(error)
    }
}

/// Asks for the sizes and the format of a transport's packets.
struct Framing {
    mtu: u16,
    ip: IpVersion,
    ranks: Ranks,
}

impl Framing {
    fn of<B: Body>(&self) -> Option<Result<(Frame, Format), MtuError>> {
        let codec: Result<Box<dyn PacketCodec<B>>, MtuError> = codec_of::<B>(self.mtu, self.ip, self.ranks)?;
        Some(codec.map(|codec| (codec.frame(), codec.format())))
    }
}

impl EndpointUser for Framing {
    type Out = Option<Result<(Frame, Format), MtuError>>;

    fn run<E: Endpoint + 'static>(self, _: impl Fn(LocalHost) -> E) -> Self::Out {
        self.of::<E::Body>()
    }

    fn run_registered(
        self,
        _: &dyn RegisteredController,
        _: std::sync::Arc<window::Config>,
        _: SchedulerKind,
    ) -> Self::Out {
        None
    }
}

#[cfg(test)]
mod tests {
    use priolane_core::keys::Schema;

    use super::*;

    #[test]
    fn every_transport_of_the_list_is_built_for_plain_and_sealed_datagrams() {
        for entry in Spec::entries() {
            let scheme = Scheme::named(entry.name).unwrap();
            for (sealed, ip) in [(Sealed::No, IpVersion::V4), (Sealed::Yes, IpVersion::V6)] {
                let built = scheme.build(1_500, ip, sealed).unwrap();
                let frame = built.transport.frame();
                assert_eq!(frame.mtu, 1_500, "{}", entry.name);
                let seal = if sealed == Sealed::Yes { 21 } else { 0 };
                assert_eq!(built.inner, 1_500 - seal);
                assert_eq!(built.tokens.is_some(), scheme.transport.has_tokens());
                // A token is a frame of the least size, unless it is sealed or IPv6 carries it.
                let wire = if sealed == Sealed::Yes { 125 } else { 84 };
                assert!(built.tokens.is_none_or(|tokens| tokens.token_wire == wire), "{:?}", built.tokens);
            }
        }
    }

    #[test]
    fn packets_of_window_and_token_transports_carry_ranks_if_asked_and_no_others() {
        let with = |name| Scheme { ranks: Ranks::Carried, ..Scheme::named(name).unwrap() };
        let built = with("dctcp").build(1_500, IpVersion::V4, Sealed::No).unwrap();
        assert_eq!((built.transport.frame().mss(), built.speaks.name()), (1_448, "window+ranks".to_owned()));
        let top = with("top").build(1_500, IpVersion::V4, Sealed::No).unwrap();
        assert_eq!(
            (top.tokens.map(|tokens| tokens.token_wire), top.speaks.name()),
            (Some(92), "top+ranks".to_owned())
        );
        let Err(BuildError::Keys(error)) = with("ndp").build(1_500, IpVersion::V4, Sealed::No) else {
            panic!("NDP has ranks")
        };
        assert_eq!(error.to_string(), "ranks: packets of ndp carry no rank: leave them out (Ranks::Absent)");
    }

    #[test]
    fn keys_are_those_of_experiments() {
        let scheme =
            Scheme::with("dctcp", &[("min_rto", Value::Text("3ms")), ("g", Value::Float(0.5))]).unwrap();
        let window = scheme.transport.window().unwrap();
        assert_eq!(window.min_rto, priolane_core::units::Span::from_ms(3));
    }

    #[test]
    fn no_key_takes_a_number_that_is_not_finite() {
        let mut checked = 0;
        for entry in Spec::entries() {
            for key in entry.parameters.iter().filter(|key| matches!(key.schema, Schema::Number)) {
                for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                    let error = Scheme::with(entry.name, &[(key.name, Value::Float(bad))]).unwrap_err();
                    assert_eq!(error.key.as_deref(), Some(key.name), "{} {bad}: {error}", entry.name);
                    checked += 1;
                }
            }
        }
        assert!(checked > 30, "{checked}");
    }

    #[test]
    fn mistakes_are_named_with_what_would_be_right() {
        let error_of =
            |name: &str, keys: &[(&str, Value<'_>)]| Scheme::with(name, keys).unwrap_err().to_string();
        assert!(
            error_of("dctpc", &[]).starts_with("kind: there is no \"dctpc\": write one of newreno, dctcp, ")
        );
        assert_eq!(
            error_of("dctcp", &[("min_rto", Value::Text("3"))]),
            "min_rto: \"3\" has no unit: write a time with its unit, such as \"5us\""
        );
        assert!(
            error_of("dctcp", &[("rto", Value::Integer(1))])
                .starts_with("rto: dctcp has no such key: its keys are ")
        );
    }

    #[test]
    fn an_mtu_that_is_too_small_is_refused() {
        let homa = Scheme::named("homa").unwrap();
        assert!(matches!(homa.build(60, IpVersion::V4, Sealed::Yes), Err(BuildError::Mtu(_))));
    }
}
