//! The path that a finding names.

use crate::bad_input::{GOOD, planned};

#[test]
fn of_all_paths_a_finding_names_the_one_with_the_longest_round_trip() {
    // Links of 1 us: a round trip takes 4 us and more within a rack of four hosts, and 8 us and more between racks. All
    // of them are above `t_high`.
    let keys = "[scheme.timely.transport]\nt_low = \"1us\"\nt_high = \"2us\"\n";
    let error = planned(&(GOOD.replace("\"dctcp\"", "\"timely\"") + keys)).unwrap_err().to_string();
    let (_, path) = error.split_once("the path from host ").unwrap_or_else(|| panic!("{error}"));
    let hosts: Vec<u32> = path.split([' ', ',']).filter_map(|word| word.parse().ok()).take(2).collect();
    assert!(hosts.len() == 2 && hosts[0] / 4 != hosts[1] / 4, "{error}");
}
