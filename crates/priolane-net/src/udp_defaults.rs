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
//!
//! The file of each transport states its own (`#[part(on_hosts = [...])]`).

use priolane_core::keys::Value;
use priolane_core::part::Row;
use priolane_core::scheme::find;

/// Returns the keys of a group with their defaults.
fn pairs<'a>(group: &'a str) -> impl Iterator<Item = (&'a str, Value<'a>)> {
    group.split(',').filter_map(|pair| pair.split_once('=')).map(|(key, value)| {
        let value = value.trim();
        (key.trim(), value.parse().map_or(Value::Text(value), Value::Integer))
    })
}

/// Returns `keys` of the transport `name` together with the defaults of keys that are not given. A `preset` replaces
/// all defaults.
pub(crate) fn with_defaults<'a>(name: &str, keys: &[(&'a str, Value<'a>)]) -> Vec<(&'a str, Value<'a>)> {
    let given = |key: &str| keys.iter().any(|(name, _)| *name == key || *name == "preset");
    let groups = find(Row::Transport, name).map_or(&[][..], |entry| entry.deployment.on_hosts);
    let missing = groups.iter().filter(|group| !pairs(group).any(|(key, _)| given(key)));
    keys.iter().cloned().chain(missing.flat_map(|group| pairs(group))).collect()
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
            for group in entry.deployment.on_hosts {
                assert_eq!(pairs(group).count(), group.matches('=').count(), "{}: {group}", entry.name);
                for (key, _) in pairs(group) {
                    assert!(entry.parameters.iter().any(|info| info.name == key), "{}: {key}", entry.name);
                }
            }
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
    fn defaults_are_texts_or_whole_numbers() {
        assert_eq!(
            with_defaults("phost", &[("retry", Value::Text("3ms"))])[1],
            ("expiry", Value::Integer(2_000))
        );
        let timely = with_defaults("timely", &[]);
        assert_eq!(timely, [("t_low", Value::Text("1ms")), ("t_high", Value::Text("5ms"))]);
    }

    #[test]
    fn rows_of_experiments_have_the_defaults_of_experiments() {
        let row = Scheme::of_row("top", &[]).unwrap();
        assert_ne!(row, Scheme::named("top").unwrap());
        assert_eq!(row, Scheme::with("top", &[("min_rto", Value::Text("1ms"))]).unwrap());
    }
}
