//! Defaults of the keys of transports over UDP, where the defaults of experiments do not suit real hosts.
//!
//! Experiments have networks with delays of some 10 us whose hosts are never late. A real host wakes up some 50 us late
//! with a real-time thread, and milliseconds late without one on a busy machine. A parameter that is shorter than that,
//! or that falls to nearly nothing with such delays, stops a flow:
//!
//! ```text
//! timeout     shorter than a wake-up: everything is sent again while it is still under way
//! target      of delay, below that of a wake-up: the window falls to its floor
//! floor       of a window, a thousandth of a packet: after one delay of 90 ms the next packet goes 90 s later
//! lifetime    of a token, shorter than a wake-up: each token has expired when its sender reads it
//! ```

use priolane_core::keys::Value;

/// The defaults of keys that belong together. If one of the keys is given, none of the defaults applies.
type Group = &'static [(&'static str, DefaultValue)];

/// The value of a default.
#[derive(Clone, Copy, Debug)]
enum DefaultValue {
    Text(&'static str),
    Integer(i64),
}

impl DefaultValue {
    fn value(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(text),
            Self::Integer(number) => Value::Integer(number),
        }
    }
}

const TARGET: Group = &[("target", DefaultValue::Text("2ms"))];
const FLOOR: Group = &[("min_cwnd", DefaultValue::Text("0.5pkt"))];
const FLUCTUATION: Group = &[("fluctuation", DefaultValue::Text("1ms"))];
const NOISE: Group = &[("noise", DefaultValue::Text("500us"))];
/// The lifetime of tokens: 1000 packets at 10 Gbit/s take 1.2 ms.
const LIFETIME: Group = &[("expiry", DefaultValue::Integer(2_000))];

/// Returns the defaults of the transport `name`.
fn groups(name: &str) -> &'static [Group] {
    match name {
        "swift" => &[TARGET, FLOOR],
        "ledbat" => &[TARGET],
        "timely" => &[&[("t_low", DefaultValue::Text("1ms")), ("t_high", DefaultValue::Text("5ms"))]],
        "prioplus_swift" => &[FLUCTUATION, NOISE, FLOOR],
        "prioplus_ledbat" => &[FLUCTUATION, NOISE],
        // One timeout, which does not adapt: longer than what hosts have to read of a thousand messages.
        "pfabric" => &[&[
            ("min_rto", DefaultValue::Text("50ms")),
            ("initial_rto", DefaultValue::Text("50ms")),
            ("max_rto", DefaultValue::Text("50ms")),
        ]],
        "phost" => &[LIFETIME, &[("retry", DefaultValue::Text("20ms"))]],
        "ndp" => &[&[("rto", DefaultValue::Text("10ms"))]],
        "expresspass" | "top" => &[&[("min_rto", DefaultValue::Text("5ms"))]],
        _ => &[],
    }
}

/// Returns `keys` of the transport `name` together with the defaults of keys that are not given. A `preset` replaces
/// all defaults.
pub(crate) fn with_defaults<'a>(name: &str, keys: &[(&'a str, Value<'a>)]) -> Vec<(&'a str, Value<'a>)> {
    let given = |key: &str| keys.iter().any(|(name, _)| *name == key || *name == "preset");
    let missing = groups(name).iter().filter(|group| !group.iter().any(|(key, _)| given(key)));
    let missing = missing.flat_map(|group| group.iter()).map(|&(key, default)| (key, default.value()));
    keys.iter().cloned().chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;
    use priolane_core::transport::Spec;

    #[test]
    fn every_transport_has_all_it_needs_and_only_keys_that_it_has() {
        for entry in Spec::entries() {
            let scheme = Scheme::named(entry.name).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert_eq!(scheme.transport.name(), entry.name);
        }
    }

    #[test]
    fn a_key_that_is_given_takes_the_place_of_its_group() {
        let keys_of = |name, keys: &[(&'static str, Value<'static>)]| -> Vec<&str> {
            with_defaults(name, keys).into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys_of("swift", &[("target", Value::Text("50us"))]), ["target", "min_cwnd"]);
        assert_eq!(keys_of("swift", &[("preset", Value::Text("lite"))]), ["preset"]);
        assert_eq!(keys_of("pfabric", &[("min_rto", Value::Text("3ms"))]), ["min_rto"]);
        assert_eq!(keys_of("dctcp", &[]), [""; 0]);
    }

    #[test]
    fn rows_of_experiments_have_the_defaults_of_experiments() {
        let row = Scheme::of_row("top", &[]).unwrap();
        assert_ne!(row, Scheme::named("top").unwrap());
        assert_eq!(row, Scheme::with("top", &[("min_rto", Value::Text("1ms"))]).unwrap());
    }
}
