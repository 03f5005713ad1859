//! `priolane channels`: how wide PrioPlus's channels must be, where they lie, and how many lossless queues a buffer has
//! room for instead.
//!
//! ```text
//! o = n W_AI / R                      what n flows overshoot the target by in a round trip        (PrioPlus App. D)
//! A = o + min(beta o / D, max_mdf) D  and what their decrease then takes; D the target of the best class
//! B = the error that a part of the measured delays does not exceed                                 (PrioPlus §4.3.2)
//!     or as much as leaves the line used: [`Room`]
//! D_target(i) = base + i (A + B),  D_limit(i) = D_target(i) + A / 2 + B,  i = 1 .. N
//! queues = floor(buffer / (ports 1.5 R 2 d))      headroom of a lossless queue over links of delay d
//! ```
//!
//! Appendix D prints the larger of beta o / D and max_mdf where the controller takes the smaller: the smaller it is
//! (docs/assumptions.md#channel-width).

mod room;

pub use room::Room;

use priolane_core::ids::CLASSES;
use priolane_core::noise::DelayNoise;
use priolane_core::units::{PS_PER_S, Rate, Span};
use priolane_source::InputError;
use priolane_source::quantity::{bytes, rate, show_bytes, show_span, span};
use serde::{Deserialize, Serialize};

use crate::experiment::noise;

/// The longest fluctuation, and the longest noise.
const LONGEST: Span = Span(PS_PER_S);

/// What is asked, one JSON object; quantities as in experiment files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Number of priorities, 1 to 16.
    pub priorities: u8,
    /// The rate of the links.
    pub rate: String,
    /// The round-trip time of an empty path.
    pub base_rtt: String,
    /// Flows of one priority that send at once.
    pub flows: u32,
    /// What a flow adds per round trip, W_AI, in bytes.
    pub step: String,
    /// The shipped trace of noise, or the path of one.
    pub noise: String,
    /// What its delays are multiplied by.
    pub scale: f64,
    /// What part of it channels have room for.
    pub room: Room,
    /// What a packet takes of the line; how many samples a flow has hangs on it.
    pub packet: String,
    /// Swift's beta.
    pub beta: f64,
    /// Swift's max_mdf.
    pub max_mdf: f64,
    /// The switch whose lossless queues are counted.
    #[serde(default)]
    pub switch: Option<Switch>,
}

/// A switch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Its buffer.
    pub buffer: String,
    /// Its ports.
    pub ports: u32,
    /// The delay of its links.
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
    /// The part of measured delays that B has room for.
    pub part: f64,
    /// The channels, class 0, the best, first.
    pub channels: Vec<Channel>,
    /// Lossless queues; `None` where no switch was asked for.
    pub queues: Option<Queues>,
    /// What a scheme file states.
    pub scheme: String,
}

/// The channel of a class, above the delay of the empty path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Channel {
    /// The class.
    pub class: u8,
    /// The code point that it would have on the wire: class selectors, then those between them.
    pub dscp: u8,
    /// D_target.
    pub target_ps: u64,
    /// D_limit.
    pub limit_ps: u64,
}

/// Lossless queues that a buffer has room for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Queues {
    /// Headroom of a queue of a port, in bytes.
    pub headroom_bytes: u64,
    /// How many fit, at most 8: PFC has no more.
    pub lossless: u64,
    /// Buffer over the rate of all ports, in megabytes per Tbps.
    pub mb_per_tbps: f64,
}

/// Answers `request`.
///
/// # Errors
/// An [`InputError`] where a value is none or out of its range, or the trace cannot be read.
pub fn answer(request: &Request) -> Result<Answer, InputError> {
    let wrong = |key: &str, what: String, fix: &str| InputError::new("channels", None, key, what, fix);
    let read =
        |key: &'static str| move |e: priolane_source::quantity::QuantityError| wrong(key, e.what, &e.fix);
    if !(1..=CLASSES as u8).contains(&request.priorities) {
        return Err(wrong("priorities", format!("{} priorities", request.priorities), "1 to 16"));
    }
    if request.flows == 0 {
        return Err(wrong("flows", "no flows".into(), "at least 1, such as 150"));
    }
    for (key, number) in [request.room.stated(), ("beta", request.beta), ("max_mdf", request.max_mdf)] {
        if !(number > 0.0 && number <= 1.0) {
            return Err(wrong(key, format!("{number} is out of range"), "above 0 and at most 1"));
        }
    }
    let line = rate(&request.rate).map_err(read("rate"))?;
    let base = span(&request.base_rtt).map_err(read("base_rtt"))?;
    let step = bytes(&request.step).map_err(read("step"))?;
    let packet = bytes(&request.packet).map_err(read("packet"))?;
    if packet == 0 {
        return Err(wrong("packet", "packets without bytes".into(), "such as \"1086B\""));
    }
    let trace = noise::load(&request.noise, request.scale)?;
    let Width { fluctuation, noise, part } = width(request, &trace, (line, base), [step, packet]);
    if fluctuation == Span::ZERO {
        return Err(wrong("step", "the delay never varies".into(), "a step above zero, such as \"180B\""));
    }
    if fluctuation > LONGEST || noise > LONGEST {
        return Err(wrong(
            "step",
            "a channel wider than a second".into(),
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

/// A, B, and the part of the noise that B has room for.
struct Width {
    fluctuation: Span,
    noise: Span,
    part: f64,
}

/// What B is hangs on the delay of the best class, and so on itself: a few rounds settle that.
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

/// A. The target of the best class depends on it, by the width: a few rounds settle that.
fn fluctuation(request: &Request, (line, base, noise): (Rate, Span, Span), step: u64) -> Span {
    let over = line.serialize(step.saturating_mul(u64::from(request.flows))).0 as f64;
    let mut wide = over;
    for _ in 0..64 {
        let target = base.0 as f64 + f64::from(request.priorities) * (wide + noise.0 as f64);
        wide = over + (request.beta * over).min(request.max_mdf * target);
    }
    // To the nanosecond, upwards: files state it.
    Span((wide as u64).div_ceil(1_000).saturating_mul(1_000))
}

/// Class selectors from CS7 down, then the points halfway between them.
fn dscp(class: u8) -> u8 {
    if class < 8 { 8 * (7 - class) } else { 8 * (15 - class) + 4 }
}

fn queues(switch: &Switch, line: Rate) -> Result<Queues, InputError> {
    let wrong = |key: &str, what: String, fix: &str| InputError::new("channels", None, key, what, fix);
    let buffer = bytes(&switch.buffer).map_err(|e| wrong("switch.buffer", e.what, &e.fix))?;
    let delay = span(&switch.delay).map_err(|e| wrong("switch.delay", e.what, &e.fix))?;
    let headroom_bytes = line.bytes_in(delay.times(3)).max(1);
    if switch.ports == 0 {
        return Err(wrong("switch.ports", "a switch without ports".into(), "at least 1"));
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
            room: Room::Part(0.9985),
            packet: "1086B".into(),
            beta: 0.8,
            max_mdf: 0.5,
            switch: Some(Switch { buffer: "2.64MB".into(), ports: 6, delay: "1us".into() }),
        }
    }

    #[test]
    fn the_paper_s_width_follows_from_its_150_flows_and_noise() {
        let answer = answer(&request()).unwrap();
        // 150 x 150 B at 100 Gbps: 1.8 us, and 0.8 of that: 3.24 us, for which the paper has 3.2; noise 0.8 us.
        assert_eq!((answer.fluctuation_ps, answer.noise_ps), (3_240_000, 800_000));
        assert_eq!(answer.channels[7].target_ps, 4_040_000);
        assert_eq!(answer.channels[7].limit_ps, 4_040_000 + 1_620_000 + 800_000);
        assert_eq!((answer.channels[0].target_ps, answer.channels[0].dscp), (8 * 4_040_000, 56));
        assert!(answer.channels.windows(2).all(|two| two[1].limit_ps < two[0].target_ps));
        // 1.5 x 100 Gbps x 2 us = 37.5 kB: 2.64 MB over six ports has room for 11, PFC for 8; 4.4 MB per Tbps.
        let queues = answer.queues.unwrap();
        assert_eq!((queues.headroom_bytes, queues.lossless), (37_500, 8));
        assert!((queues.mb_per_tbps - 4.4).abs() < 1e-9);
    }

    #[test]
    fn noise_widens_channels_by_what_it_is() {
        let wide = |scale| answer(&Request { scale, ..request() }).unwrap().width_ps;
        assert_eq!((wide(1.0), wide(2.0), wide(5.0)), (4_040_000, 4_840_000, 7_240_000));
    }

    #[test]
    fn a_wanted_utilization_needs_more_room_for_fewer_flows() {
        let wide = |flows, used| {
            let room = Room::Utilization(used);
            answer(&Request { flows, room, ..request() }).unwrap()
        };
        // Five flows at a target of 7 us above 12: 240 kB, 44 samples each; 1 in 1,000 may be wrong by more.
        let five = wide(5, 0.98);
        assert!((0.9985..0.9993).contains(&five.part), "{}", five.part);
        assert!((800_000..876_001).contains(&five.noise_ps), "{}", five.noise_ps);
        // Of 150 flows each has three samples a round trip.
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
        assert_eq!(key(&Request { room: Room::Part(0.0), ..request() }), "part");
        assert_eq!(key(&Request { room: Room::Utilization(1.01), ..request() }), "utilization");
        assert_eq!(key(&Request { packet: "0B".into(), ..request() }), "packet");
        assert_eq!(key(&Request { beta: f64::NAN, ..request() }), "beta");
        // 2^32 flows of a gigabyte are years at 100 Gbps.
        assert_eq!(key(&Request { flows: u32::MAX, step: "1GB".into(), ..request() }), "step");
        assert!(answer(&Request { noise: "no/such.csv".into(), ..request() }).is_err());
    }
}
