//! Implements `priolane channels`: computes the width and position of PrioPlus's channels, and the number of lossless
//! queues that fit in the same buffer.
//!
//! ```text
//! o = n W_AI / R                      overshoot of the target by n flows in a round trip            (PrioPlus App. D)
//! A = o + min(beta o / D, max_mdf) D  plus the effect of their decrease; D is the target of the best class
//! B = a quantile of the error of the measured delays                                                (PrioPlus §4.3.2)
//!     given, or as needed for a link utilization: [`CoveredNoise`]
//! D_target(i) = base + i (A + B),  D_limit(i) = D_target(i) + A / 2 + B,  i = 1 .. N
//! queues = floor(buffer / (ports 1.5 R 2 d))      headroom of a lossless queue over links of delay d
//! ```
//!
//! Appendix D prints max(beta o / D, max_mdf); the controller takes the minimum, and so does this module
//! (docs/assumptions.md#channel-width).

mod room;

pub use room::CoveredNoise;

use priolane_core::ids::CLASSES;
use priolane_core::noise::DelayNoise;
use priolane_core::units::{PS_PER_S, Rate, Span};
use priolane_source::InputError;
use priolane_source::quantity::{bytes, rate, show_bytes, show_span, span};
use serde::{Deserialize, Serialize};

use priolane_lab::experiment::noise;

/// Maximum fluctuation, and maximum noise.
const LONGEST: Span = Span(PS_PER_S);

/// The request, one JSON object; quantities are written as in experiment files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Number of priorities, 1 to 16.
    pub priorities: u8,
    /// Rate of the links.
    pub rate: String,
    /// Round-trip time of an idle path.
    pub base_rtt: String,
    /// Number of flows of one priority that send at once.
    pub flows: u32,
    /// Additive increase of a flow per round trip, W_AI, in bytes.
    pub step: String,
    /// Name of a shipped noise trace, or the path of one.
    pub noise: String,
    /// Factor on the delays of the trace.
    pub scale: f64,
    /// Part of the noise that channels accommodate.
    pub room: CoveredNoise,
    /// Size of a packet on the wire; determines the number of delay samples per flow and round trip.
    pub packet: String,
    /// Swift's beta.
    pub beta: f64,
    /// Swift's max_mdf.
    pub max_mdf: f64,
    /// The switch whose lossless queues are counted.
    #[serde(default)]
    pub switch: Option<Switch>,
}

/// A switch with PFC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Buffer size.
    pub buffer: String,
    /// Number of ports.
    pub ports: u32,
    /// Propagation delay of its links.
    pub delay: String,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// A.
    pub fluctuation_ps: u64,
    /// B.
    pub noise_ps: u64,
    /// A + B.
    pub width_ps: u64,
    /// Fraction of the measured delays that B covers.
    pub part: f64,
    /// The channels, from class 0, the best.
    pub channels: Vec<Channel>,
    /// Lossless queues; `None` if no switch was given.
    pub queues: Option<Queues>,
    /// The lines for a scheme file.
    pub scheme: String,
}

/// The channel of a class, relative to the delay of the idle path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Channel {
    /// The class.
    pub class: u8,
    /// Its DSCP: class selectors first, then the code points between them.
    pub dscp: u8,
    /// D_target.
    pub target_ps: u64,
    /// D_limit.
    pub limit_ps: u64,
}

/// Lossless queues that fit in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Queues {
    /// Headroom of one queue of a port, in bytes.
    pub headroom_bytes: u64,
    /// Number of queues that fit, at most 8, the limit of PFC.
    pub lossless: u64,
    /// Buffer divided by the rate of all ports, in megabytes per Tbps.
    pub mb_per_tbps: f64,
}

/// Answers `request`.
///
/// # Errors
/// Returns an [`InputError`] if a value is invalid or out of range, or the trace cannot be read.
pub fn answer(request: &Request) -> Result<Answer, InputError> {
    let wrong = |key: &str, what: String, fix: &str| InputError::new("channels", None, key, what, fix);
    let read =
        |key: &'static str| move |e: priolane_source::quantity::QuantityError| wrong(key, e.what, &e.fix);
    if !(1..=CLASSES as u8).contains(&request.priorities) {
        return Err(wrong(
            "priorities",
            format!("{} is out of range", request.priorities),
            "1 to 16 priorities",
        ));
    }
    if request.flows == 0 {
        return Err(wrong("flows", "the number of flows is zero".into(), "at least 1, such as 150"));
    }
    for (key, number) in [request.room.stated(), ("beta", request.beta), ("max_mdf", request.max_mdf)] {
        if !(number > 0.0 && number <= 1.0) {
            return Err(wrong(key, format!("{number} is out of range"), "a number above 0 and at most 1"));
        }
    }
    let line = rate(&request.rate).map_err(read("rate"))?;
    let base = span(&request.base_rtt).map_err(read("base_rtt"))?;
    let step = bytes(&request.step).map_err(read("step"))?;
    let packet = bytes(&request.packet).map_err(read("packet"))?;
    if packet == 0 {
        return Err(wrong(
            "packet",
            "the packet size is zero".into(),
            "a size above zero, such as \"1086B\"",
        ));
    }
    let trace = noise::load(&request.noise, request.scale)?;
    let Width { fluctuation, noise, part } = width(request, &trace, (line, base), [step, packet]);
    if fluctuation == Span::ZERO {
        return Err(wrong("step", "the delay does not vary".into(), "a step above zero, such as \"180B\""));
    }
    if fluctuation > LONGEST || noise > LONGEST {
        return Err(wrong(
            "step",
            "a channel would be wider than a second".into(),
            "fewer flows, a smaller step or scale",
        ));
    }
    let (wide, head) = (fluctuation + noise, Span(fluctuation.0 / 2) + noise);
    let channels = (0..request.priorities).map(|class| {
        let target = wide.times(u64::from(request.priorities - class));
        Channel { class, dscp: dscp(class), target_ps: target.0, limit_ps: (target + head).0 }
    });
    let queues = request.switch.as_ref().map(|switch| queues(switch, line)).transpose()?;
    let scheme = format!(
        "priorities = {}, fluctuation = \"{}\", noise = \"{}\"",
        request.priorities,
        show_span(fluctuation),
        show_span(noise)
    );
    Ok(Answer {
        fluctuation_ps: fluctuation.0,
        noise_ps: noise.0,
        width_ps: wide.0,
        part,
        channels: channels.collect(),
        queues,
        scheme,
    })
}

/// A, B, and the fraction of the noise that B covers.
struct Width {
    fluctuation: Span,
    noise: Span,
    part: f64,
}

/// Computes A and B. B depends on the delay of the best class and thus on itself, so it is iterated to a fixed point.
fn width(
    request: &Request,
    trace: &DelayNoise,
    (line, base): (Rate, Span),
    [step, packet]: [u64; 2],
) -> Width {
    let at = |part: f64| {
        let noise = trace.quantile(part);
        Width { fluctuation: fluctuation(request, (line, base, noise), step), noise, part }
    };
    let mut width = at(1.0);
    for _ in 0..16 {
        let wide = width.fluctuation.0.saturating_add(width.noise.0);
        let delay = wide.saturating_mul(u64::from(request.priorities)).saturating_add(base.0);
        let samples = line.bytes_in(Span(delay)) as f64 / (f64::from(request.flows) * packet as f64);
        width = at(request.room.part(samples));
    }
    width
}

/// Computes A. The target of the best class depends on A through the channel width, so it is iterated to a fixed point.
fn fluctuation(request: &Request, (line, base, noise): (Rate, Span, Span), step: u64) -> Span {
    let over = line.serialize(step.saturating_mul(u64::from(request.flows))).0 as f64;
    let mut wide = over;
    for _ in 0..64 {
        let target = base.0 as f64 + f64::from(request.priorities) * (wide + noise.0 as f64);
        wide = over + (request.beta * over).min(request.max_mdf * target);
    }
    // Rounded up to a nanosecond, the resolution of files.
    Span((wide as u64).div_ceil(1_000).saturating_mul(1_000))
}

/// Returns class selectors from CS7 down, then the code points halfway between them.
fn dscp(class: u8) -> u8 {
    if class < 8 { 8 * (7 - class) } else { 8 * (15 - class) + 4 }
}

fn queues(switch: &Switch, line: Rate) -> Result<Queues, InputError> {
    let wrong = |key: &str, what: String, fix: &str| InputError::new("channels", None, key, what, fix);
    let buffer = bytes(&switch.buffer).map_err(|e| wrong("switch.buffer", e.what, &e.fix))?;
    let delay = span(&switch.delay).map_err(|e| wrong("switch.delay", e.what, &e.fix))?;
    let headroom_bytes = line.bytes_in(delay.times(3)).max(1);
    if switch.ports == 0 {
        return Err(wrong("switch.ports", "the switch has no ports".into(), "at least 1 port"));
    }
    let lossless = buffer / headroom_bytes.saturating_mul(u64::from(switch.ports));
    let tbps = line.bps() as f64 * f64::from(switch.ports) / 1e12;
    Ok(Queues { headroom_bytes, lossless: lossless.min(8), mb_per_tbps: buffer as f64 / 1e6 / tbps })
}

impl std::fmt::Display for Queues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headroom = show_bytes(self.headroom_bytes);
        write!(
            f,
            "{} lossless queues ({headroom} of headroom each), {:.2} MB/Tbps",
            self.lossless, self.mb_per_tbps
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            priorities: 8,
            rate: "100Gbps".into(),
            base_rtt: "12us".into(),
            flows: 150,
            step: "150B".into(),
            noise: "host".into(),
            scale: 1.0,
            room: CoveredNoise::Part(0.9985),
            packet: "1086B".into(),
            beta: 0.8,
            max_mdf: 0.5,
            switch: Some(Switch { buffer: "2.64MB".into(), ports: 6, delay: "1us".into() }),
        }
    }

    #[test]
    fn the_paper_s_width_follows_from_its_150_flows_and_noise() {
        let answer = answer(&request()).unwrap();
        // 150 x 150 B at 100 Gbps: 1.8 us, plus 0.8 of that: 3.24 us, which the paper gives as 3.2; noise 0.8 us.
        assert_eq!((answer.fluctuation_ps, answer.noise_ps), (3_240_000, 800_000));
        assert_eq!(answer.channels[7].target_ps, 4_040_000);
        assert_eq!(answer.channels[7].limit_ps, 4_040_000 + 1_620_000 + 800_000);
        assert_eq!((answer.channels[0].target_ps, answer.channels[0].dscp), (8 * 4_040_000, 56));
        assert!(answer.channels.windows(2).all(|two| two[1].limit_ps < two[0].target_ps));
        // 1.5 x 100 Gbps x 2 us = 37.5 kB: 2.64 MB over six ports hold 11 queues, of which PFC allows 8; 4.4 MB per
        // Tbps.
        let queues = answer.queues.unwrap();
        assert_eq!((queues.headroom_bytes, queues.lossless), (37_500, 8));
        assert!((queues.mb_per_tbps - 4.4).abs() < 1e-9);
    }

    #[test]
    fn a_decrease_that_is_capped_by_a_part_of_the_delay_widens_with_the_number_of_channels() {
        // A = 1.8 us + 0.02 x (12 us + n x (A + 0.8 us)), solved for A.
        let fluctuation =
            |priorities| answer(&Request { max_mdf: 0.02, priorities, ..request() }).unwrap().fluctuation_ps;
        assert_eq!((fluctuation(8), fluctuation(4)), (2_581_000, 2_287_000));
    }

    #[test]
    fn classes_above_eight_lie_halfway_between_class_selectors() {
        let channels = answer(&Request { priorities: 16, ..request() }).unwrap().channels;
        let dscp: Vec<u8> = channels.iter().map(|channel| channel.dscp).collect();
        assert_eq!(dscp, [56, 48, 40, 32, 24, 16, 8, 0, 60, 52, 44, 36, 28, 20, 12, 4]);
    }

    #[test]
    fn noise_widens_channels_by_what_it_is() {
        let wide = |scale| answer(&Request { scale, ..request() }).unwrap().width_ps;
        assert_eq!((wide(1.0), wide(2.0), wide(5.0)), (4_040_000, 4_840_000, 7_240_000));
    }

    #[test]
    fn a_wanted_utilization_needs_more_room_for_fewer_flows() {
        let wide = |flows, used| {
            let room = CoveredNoise::Utilization(used);
            answer(&Request { flows, room, ..request() }).unwrap()
        };
        // Five flows at a target of 7 us above 12 us: 240 kB, 44 samples each; 1 in 1,000 may have a larger error.
        let five = wide(5, 0.98);
        assert!((0.9985..0.9993).contains(&five.part), "{}", five.part);
        assert!((800_000..876_001).contains(&five.noise_ps), "{}", five.noise_ps);
        // With 150 flows, each has three samples per round trip.
        let many = wide(150, 0.98);
        assert!((0.95..0.98).contains(&many.part), "{}", many.part);
        assert!(many.noise_ps < five.noise_ps);
        assert!(wide(5, 0.999).part > five.part && wide(5, 0.9).part < five.part);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let key = |request: &Request| answer(request).unwrap_err().key;
        assert_eq!(key(&Request { priorities: 17, ..request() }), "priorities");
        assert_eq!(key(&Request { rate: "12".into(), ..request() }), "rate");
        assert_eq!(key(&Request { step: "0B".into(), ..request() }), "step");
        assert_eq!(key(&Request { flows: 0, ..request() }), "flows");
        assert_eq!(key(&Request { room: CoveredNoise::Part(0.0), ..request() }), "part");
        assert_eq!(key(&Request { room: CoveredNoise::Utilization(1.01), ..request() }), "utilization");
        assert_eq!(key(&Request { packet: "0B".into(), ..request() }), "packet");
        assert_eq!(key(&Request { beta: f64::NAN, ..request() }), "beta");
        // 2^32 flows of a gigabyte take years at 100 Gbps.
        assert_eq!(key(&Request { flows: u32::MAX, step: "1GB".into(), ..request() }), "step");
        assert!(answer(&Request { noise: "no/such.csv".into(), ..request() }).is_err());
    }
}
