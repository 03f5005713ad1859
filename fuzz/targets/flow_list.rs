//! Flow lists: flows that can be written and read again, or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use priolane_workload::flow_list;

fuzz_target!(|text: &[u8]| {
    let Ok(flows) = flow_list::read(text, "f.csv", 16) else { return };
    let mut written = Vec::new();
    flow_list::write(&mut written, &flows).expect("a vector takes all");
    assert_eq!(flow_list::read(written.as_slice(), "f.csv", 16), Ok(flows));
});
