//! From parameters to ports: what a discipline is built from, and the one list of disciplines.

use super::Buffer;
use super::Discipline;
use crate::ids::{Class, LinkId};
use crate::packet::{Frame, QueueItem};
use crate::port::{DisciplineSpec, SortBy};
use crate::rng::{Purpose, Stream};
use crate::units::Rate;

/// The place of a port, and what all disciplines have in common.
#[derive(Clone, Copy, Debug)]
pub struct PortContext {
    /// The link that the port leads to.
    pub link: LinkId,
    /// The rate of the link.
    pub rate: Rate,
    /// Buffer and marking.
    pub buffer: Buffer,
    /// What a discipline with several queues sorts by.
    pub sort_by: SortBy,
    /// Packet sizes on the wire.
    pub frame: Frame,
    /// Whether headers can go back to their senders from here.
    pub returns: Returns,
    /// Seed of the run.
    pub seed: u64,
}

impl PortContext {
    /// A random stream of the port's own.
    pub fn rng(&self) -> Stream {
        Stream::new(self.seed, Purpose::Port, u64::from(self.link.0))
    }
}

/// Whether a port can send headers back to their senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Yes: a switch port.
    Forwarded,
    /// No: a host's own queue, where such a packet is dropped instead.
    Dropped,
}

/// The parameters of a discipline, of which its ports are built.
pub trait PortFactory: Clone + std::fmt::Debug {
    /// The discipline, over packets or what stands for them in a node.
    type Port<P: QueueItem>: Discipline<P>;

    /// An empty port.
    fn build<P: QueueItem>(&self, context: &PortContext) -> Self::Port<P>;

    /// The number of the queue that packets of `class` join, as results name it. Default: 0, the only queue.
    fn queue_of(&self, class: Class) -> u8 {
        let _ = class;
        0
    }

    /// Whether single classes can be paused (PFC). Default: no.
    fn is_pausable(&self) -> bool {
        false
    }

    /// Whether a port may hold packets back although the line is free. Default: no.
    fn is_limited(&self) -> bool {
        false
    }
}

/// A factory of the list, or [`DisciplineSpec`] itself.
pub trait DisciplineKind: PortFactory + 'static {
    /// The parameters in `spec`, if it is of this kind.
    fn of(spec: &DisciplineSpec) -> Option<&Self>;
}

/// What is to be done for each kind of discipline: see [`DisciplineSpec::visit_kinds`].
pub trait KindVisitor {
    /// Does it for the kind `S`.
    fn visit<S: DisciplineKind>(&mut self);
}

/// Makes of the list of disciplines the enum of their parameters ([`DisciplineSpec`]), the enum of their ports
/// ([`AnyDiscipline`](super::AnyDiscipline)), and the conversions between them.
macro_rules! disciplines {
    ($($name:ident: $spec:ty),+ $(,)?) => {
        /// The parameters of a discipline of any kind.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum DisciplineSpec {
            $(
                #[doc = concat!("[`", stringify!($spec), "`].")]
                $name($spec),
            )+
        }

        /// A port of a discipline of any kind; boxed, as they differ in size.
        #[derive(Debug)]
        pub enum AnyDiscipline<P: QueueItem> {
            $(
                #[doc = concat!("A port of [`", stringify!($spec), "`].")]
                $name(Box<<$spec as PortFactory>::Port<P>>),
            )+
        }

        $(
            impl From<$spec> for DisciplineSpec {
                fn from(spec: $spec) -> Self {
                    Self::$name(spec)
                }
            }

            impl DisciplineKind for $spec {
                fn of(spec: &DisciplineSpec) -> Option<&Self> {
                    if let DisciplineSpec::$name(spec) = spec { Some(spec) } else { None }
                }
            }
        )+

        impl DisciplineKind for DisciplineSpec {
            fn of(spec: &DisciplineSpec) -> Option<&Self> {
                Some(spec)
            }
        }

        impl DisciplineSpec {
            /// Visits all kinds, in the order of the list.
            pub fn visit_kinds(visitor: &mut impl KindVisitor) {
                $(visitor.visit::<$spec>();)+
            }
        }

        impl PortFactory for DisciplineSpec {
            type Port<P: QueueItem> = AnyDiscipline<P>;

            fn build<P: QueueItem>(&self, context: &PortContext) -> AnyDiscipline<P> {
                match self {
                    $(Self::$name(spec) => AnyDiscipline::$name(Box::new(spec.build(context))),)+
                }
            }

            fn queue_of(&self, class: Class) -> u8 {
                match self {
                    $(Self::$name(spec) => spec.queue_of(class),)+
                }
            }

            fn is_pausable(&self) -> bool {
                match self {
                    $(Self::$name(spec) => spec.is_pausable(),)+
                }
            }

            fn is_limited(&self) -> bool {
                match self {
                    $(Self::$name(spec) => spec.is_limited(),)+
                }
            }
        }

        impl<P: QueueItem> Discipline<P> for AnyDiscipline<P> {
            #[inline]
            fn enqueue(&mut self, now: Time, item: &P, out: &mut dyn PortSink<P>) -> Admission {
                match self {
                    $(Self::$name(port) => port.enqueue(now, item, out),)+
                }
            }

            #[inline]
            fn try_bypass(&mut self, now: Time, header: &Header) -> Option<Admission> {
                match self {
                    $(Self::$name(port) => port.try_bypass(now, header),)+
                }
            }

            #[inline]
            fn expire(&mut self, now: Time, out: &mut dyn PortSink<P>) {
                match self {
                    $(Self::$name(port) => port.expire(now, out),)+
                }
            }

            #[inline]
            fn next_eligible_time(&self) -> Option<Time> {
                match self {
                    $(Self::$name(port) => port.next_eligible_time(),)+
                }
            }

            #[inline]
            fn dequeue(&mut self, t: Time, out: &mut dyn PortSink<P>) -> Option<&P> {
                match self {
                    $(Self::$name(port) => port.dequeue(t, out),)+
                }
            }

            #[inline]
            fn is_ready(&self, paused: ClassSet) -> bool {
                match self {
                    $(Self::$name(port) => port.is_ready(paused),)+
                }
            }

            #[inline]
            fn dequeue_unpaused(
                &mut self,
                t: Time,
                paused: ClassSet,
                out: &mut dyn PortSink<P>,
            ) -> Option<&P> {
                match self {
                    $(Self::$name(port) => port.dequeue_unpaused(t, paused, out),)+
                }
            }

            #[inline]
            fn packets(&self) -> u32 {
                match self {
                    $(Self::$name(port) => port.packets(),)+
                }
            }

            #[inline]
            fn bytes(&self) -> u64 {
                match self {
                    $(Self::$name(port) => port.bytes(),)+
                }
            }

            #[inline]
            fn payload_bytes(&self) -> u64 {
                match self {
                    $(Self::$name(port) => port.payload_bytes(),)+
                }
            }

            #[inline]
            fn bytes_before(&self, header: &Header) -> u64 {
                match self {
                    $(Self::$name(port) => port.bytes_before(header),)+
                }
            }
        }
    };
}

pub(super) use disciplines;
