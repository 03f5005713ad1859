//! Feeds many damaged inputs to each reader: it returns a result or an error, and never panics.

use super::*;
use crate::import::size_tables;
use priolane_core::sizes::Interpolation;

/// Number of damaged versions of a file.
fn rounds() -> u64 {
    priolane_rounds::rounds(30_000, 1_000_000)
}

/// Bytes that are more likely to matter than others.
const TELLING: &[u8] = b"0123456789.,-+eE#\"\n\r\0 \xff\xefnaif";

/// Changes, removes, duplicates or inserts a few bytes.
fn damage(text: &mut Vec<u8>, random: &mut Stream) {
    for _ in 0..=random.below(4) {
        let place = random.below(text.len() as u64 + 1) as usize;
        let byte = match random.below(4) {
            0 => random.bits() as u8,
            _ => TELLING[random.below(TELLING.len() as u64) as usize],
        };
        match random.below(5) {
            0 => text.insert(place, byte),
            1 => text.truncate(place),
            2 => text.extend_from_within(place..),
            _ => match text.get_mut(place) {
                Some(old) => *old = byte,
                None => text.push(byte),
            },
        }
        text.truncate(1000);
    }
}

/// Returns how many of the damaged versions of `text` are accepted.
fn survivors(text: &str, accepts: &dyn Fn(&[u8]) -> bool) -> u64 {
    assert!(accepts(text.as_bytes()));
    let mut random = Stream::new(1, Purpose::Endpoint, 0);
    let mut damaged = Vec::new();
    let mut accepted = 0;
    for _ in 0..rounds() {
        damaged.clear();
        damaged.extend_from_slice(text.as_bytes());
        damage(&mut damaged, &mut random);
        accepted += u64::from(accepts(&damaged));
    }
    accepted
}

#[test]
fn damaged_size_tables_are_read_or_refused() {
    let accepted = survivors(size_csv::shipped("data_mining").unwrap(), &|text| {
        let Ok(sizes) = size_csv::parse("t", text, Interpolation::Linear) else { return false };
        // An accepted table is a distribution: its mean is that of the truncation at its largest size.
        let (mean, max) = (sizes.mean(), sizes.max());
        assert!(mean >= 0.0 && mean <= max && sizes.truncated_mean(max) <= mean * (1.0 + 1e-9));
        assert!((1..=1 << 47).contains(&sizes.sample(&mut Stream::new(1, Purpose::Sizes, 0))));
        true
    });
    assert!((rounds() / 50..rounds() * 9 / 10).contains(&accepted), "{accepted}");
}

#[test]
fn damaged_flow_lists_are_read_or_refused() {
    let list =
        "# two hosts\nstart_ns,src,dst,bytes,class,deadline_ns\n0,0,1,1460,0,\n12.125,1,0,endless,3,99\n";
    let accepted = survivors(list, &|text| {
        let Ok(flows) = flow_list::read(text, "t", 2) else { return false };
        assert!(flows.iter().all(|f| f.src != f.dst && f.src.0 < 2 && f.dst.0 < 2 && f.size != Some(0)));
        let mut written = Vec::new();
        flow_list::write(&mut written, &flows).unwrap();
        assert_eq!(flow_list::read(written.as_slice(), "t", 2).as_ref(), Ok(&flows));
        true
    });
    assert!((rounds() / 50..rounds() * 9 / 10).contains(&accepted), "{accepted}");
}

#[test]
fn damaged_size_tables_of_others_are_converted_or_refused() {
    let tables = [
        "0 0\n10000 15\n50000 40\n1000000 80\n30000000 100\n",
        "# web\nsize cdf\n9000 0\n9000 0.15\n30000000 1\n",
        "6 1 0\n6 1 0.15\n53 1 0.53\n667 1 0.7\n2000000 1 1\n",
        "27168.2\n100  0.5\n1456  0.65\n10000  0.75\n100000  0.999\n1000000  1.0\n",
    ];
    for table in tables {
        let accepted = survivors(table, &|text| {
            let _ = size_csv::parse("t", text, Interpolation::Step);
            let Ok(converted) = size_tables::convert("t", text, &size_tables::Options::default()) else {
                return false;
            };
            let text = converted.text.as_bytes();
            let law = size_csv::parse("t", text, converted.law.interpolation()).unwrap();
            let (mean, expected) = (law.mean(), converted.law.mean());
            assert!((mean - expected).abs() <= 1e-9 * expected, "{mean} {expected}");
            true
        });
        assert!((rounds() / 50..rounds() * 9 / 10).contains(&accepted), "{accepted} of {table}");
    }
}
