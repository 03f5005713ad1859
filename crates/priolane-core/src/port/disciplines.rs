//! The one list of disciplines.

use super::{
    Admission, AifoSpec, Discipline, FifoSpec, LimitedSpec, PFabricSpec, PortContext, PortFactory, PortSink,
    PushOutSpec, RankedSpec, RealTimeWfqSpec, StrictSpec, TokenGroupSpec, TrimmingSpec, WfqSpec,
};
use crate::ids::{Class, ClassSet};
use crate::packet::{Header, QueueItem};
use crate::units::Time;

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
/// ([`AnyDiscipline`]), and the conversions between them.
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

// The disciplines. A new one is a file with its parameters, which implement `PortFactory`, and a line here.
disciplines! {
    Fifo: FifoSpec,
    Strict: StrictSpec,
    PushOut: PushOutSpec,
    Wfq: WfqSpec,
    RealTimeWfq: RealTimeWfqSpec,
    Ranked: RankedSpec,
    Aifo: AifoSpec,
    PFabric: PFabricSpec,
    Trimming: TrimmingSpec,
    Tokens: TokenGroupSpec,
    Limited: LimitedSpec,
}
