//! The list of port kinds and their disciplines.

use super::{
    Admission, AifoSpec, AveragedSpec, Discipline, Either, FifoSpec, KindRules, LimitedSpec, OfKind,
    PFabricSpec, PifoSpec, PortContext, PortFactory, PortSetup, PortSink, PushOutSpec, RankedSpec,
    RealTimeWfqSpec, RegisteredKind, RegisteredSpec, StrictFirstSpec, StrictSpec, TokenGroupSpec,
    TrimmingSpec, WfqKeys, WfqSpec,
};
use crate::ids::{Class, ClassSet};
use crate::packet::{Header, QueueItem};
use crate::part::parts;
use crate::registry::Registered as _;
use crate::units::Time;

/// A factory in the list, or [`DisciplineSpec`] itself.
pub trait DisciplineKind: PortFactory + 'static {
    /// Returns the parameters in `spec`, if it is of this kind.
    fn of(spec: &DisciplineSpec) -> Option<&Self>;
}

/// An operation on each kind of discipline: see [`DisciplineSpec::visit_kinds`].
pub trait KindVisitor {
    /// Visits the kind `S`.
    fn visit<S: DisciplineKind>(&mut self);
}

impl<A: Into<DisciplineSpec>, B: Into<DisciplineSpec>> From<Either<A, B>> for DisciplineSpec {
    fn from(either: Either<A, B>) -> Self {
        match either {
            Either::First(spec) => spec.into(),
            Either::Second(spec) => spec.into(),
        }
    }
}

/// Generates from the list of disciplines the enum of their parameters ([`DisciplineSpec`]), the enum of their
/// ports ([`AnyDiscipline`]), and the conversions between them.
macro_rules! disciplines {
    (
        in files { $($(#[$doc:meta])* $kind:ident($keys:ty) is [$($name:ident: $spec:ty),*];)+ }
        besides { $($other:ident: $other_spec:ty),+ }
    ) => {
        parts! {
            /// A kind of port as files state it.
            pub enum PortKind: dyn KindRules in Port {
                $($(#[$doc])* $kind($keys);)+
            } else {
                /// A kind of port of another crate.
                Registered(Box<dyn RegisteredKind>);
            }
        }

        impl PortKind {
            /// Returns the discipline of a port of this kind.
            pub fn discipline(&self, setup: &PortSetup<'_>) -> DisciplineSpec {
                match self {
                    $(Self::$kind(keys) => keys.discipline(setup).into(),)+
                    Self::Registered(kind) => kind.dyn_discipline(setup).into(),
                }
            }
        }

        disciplines! {
            @compiled $($($spec,)*)+ $($other_spec,)+
            @all $($($name: $spec,)*)+ $($other: $other_spec,)+ Registered: RegisteredSpec,
        }
    };
    (@compiled $($compiled:ty,)+ @all $($name:ident: $spec:ty,)+) => {
        /// The parameters of a discipline of any kind.
        #[derive(Clone, Debug, PartialEq)]
        pub enum DisciplineSpec {
            $(
                #[doc = concat!("[`", stringify!($spec), "`].")]
                $name($spec),
            )+
        }

        /// A port of any discipline; boxed, because the sizes differ.
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
            /// Visits all kinds of this crate, in the order of the list.
            pub fn visit_kinds(visitor: &mut impl KindVisitor) {
                $(visitor.visit::<$compiled>();)+
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

            fn sends_back(&self) -> bool {
                match self {
                    $(Self::$name(spec) => spec.sends_back(),)+
                }
            }

            fn reads_ranks(&self) -> bool {
                match self {
                    $(Self::$name(spec) => spec.reads_ranks(),)+
                }
            }

            fn cost(&self) -> f64 {
                match self {
                    $(Self::$name(spec) => spec.cost(),)+
                }
            }

            fn without_qdisc(&self) -> &'static str {
                match self {
                    $(Self::$name(spec) => spec.without_qdisc(),)+
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

            #[inline]
            fn packets_before(&self, header: &Header) -> u32 {
                match self {
                    $(Self::$name(port) => port.packets_before(header),)+
                }
            }
        }
    };
}

// The kinds of ports. To add one, create a file with its keys and add a line here: the kind, its keys, and the
// disciplines of its ports, whose parameters implement `PortFactory`.
disciplines! {
    in files {
        /// One FIFO queue.
        Fifo(FifoSpec) is [Fifo: FifoSpec];
        /// Strict priority.
        Strict(StrictSpec) is [Strict: StrictSpec, PushOut: PushOutSpec];
        /// Weighted fair queueing.
        Wfq(WfqKeys) is [Wfq: WfqSpec, StrictFirst: StrictFirstSpec, RealTimeWfq: RealTimeWfqSpec];
        /// Data that does not fit is trimmed to headers.
        Trimming(TrimmingSpec) is [Trimming: TrimmingSpec];
        /// Token queues behind one rate limiter, and data.
        Tokens(TokenGroupSpec) is [Tokens: TokenGroupSpec];
        /// One queue sorted by rank.
        Ranked(RankedSpec) is [Ranked: RankedSpec];
        /// One sorted queue; classes map to ranks. Its ports use push-out.
        Pifo(PifoSpec) is [];
        /// One FIFO queue with admission by rank; classes map to ranks.
        Aifo(AifoSpec) is [Aifo: AifoSpec];
        /// Serves the flow with the best rank and drops the packet with the worst.
        PFabric(PFabricSpec) is [PFabric: PFabricSpec];
        /// Approximately sorted by rank, with strict queues.
        SpPifo(super::sp_pifo::SpPifoSpec) is [SpPifo: super::sp_pifo::SpPifoSpec];
    }
    besides { Limited: LimitedSpec, Averaged: AveragedSpec<DisciplineSpec> }
}
