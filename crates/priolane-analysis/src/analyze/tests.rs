use std::ops::ControlFlow;
use std::path::Path;

use super::*;

/// Eight flows: six of 100 B with a requirement of 1 s; two of 400 B, one with 1 s and one with 2 s.
const STATED: &str = "flows = 8\nsizes = [\"100B\", \"400B\"]\nshares = [0.75, 0.25]\n\
    deadlines = [\"1s\", \"2s\"]\nmix = [[1, 0], [0.5, 0.5]]\n";

/// Priority 1 at 100 B and 0.5 at 400 B; 1.6 kbit/s is 200 B/s.
const BYTES: &str = "bytes = { rate = \"1600bps\", scale = \"100B\", exponent = -0.5 }\n";

fn asked(dir: &Path, text: &str) -> Result<Answer, Failure> {
    let model = dir.join("model.toml");
    std::fs::write(&model, text).unwrap();
    answer(&Request { model, size: Extent::Default, interrupt: Default::default() }, &mut |_| {
        ControlFlow::Continue(())
    })
}

fn refusal(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let message = asked(dir.path(), text).unwrap_err().to_string();
    message.split_once("model.toml").unwrap().1.to_owned()
}

#[test]
fn a_stated_traffic_gives_the_numbers_of_the_closed_forms() {
    let dir = tempfile::tempdir().unwrap();
    let latency = "latency = { rate = \"1600bps\", scale = \"1s\", exponent = -1 }\n";
    let found = asked(dir.path(), &format!("{STATED}{BYTES}{latency}")).unwrap();
    assert_eq!((found.traffic, found.sigma), (vec![600.0, 800.0], 100.0));
    assert_eq!(found.requirement, [6.0, 3.0]);
    // As in the tests of priolane-core: 0.5 s and 4 s by size; 0.5 s and (2 + 4) / 2 s by latency requirement.
    let (bytes, latency) = (found.bytes.unwrap(), found.latency.unwrap());
    assert!((bytes.printed_s - 4.5).abs() < 1e-12 && (bytes.predicted.miss_rate - 0.25).abs() < 1e-12);
    assert_eq!((bytes.mu_bps, bytes.fitted, bytes.simulated), (1600.0, false, None));
    assert!((latency.predicted.mean_s.unwrap() - 1.125).abs() < 1e-12);
    assert_eq!(latency.predicted.missed, [0.0, 1.0]);
}

#[test]
fn gamma_may_follow_the_deviation_of_traffic() {
    // gamma = 0.0001 x sigma = 0.0001 x 100 = 0.01 per byte, as above.
    let dir = tempfile::tempdir().unwrap();
    let law = "bytes = { rate = \"1600bps\", k = 0.0001, exponent = -0.5 }\n";
    let found = asked(dir.path(), &format!("{STATED}{law}")).unwrap().bytes.unwrap();
    assert!((found.gamma - 0.01).abs() < 1e-15 && (found.printed_s - 4.5).abs() < 1e-9);
}

#[test]
fn an_experiments_flows_are_modelled_and_simulated() {
    // Four flows from one host at 10 Gbit/s: 15 kB within 1 ms, 25 kB within 5 us, twice 1.5 MB within 10 ms. A fifth
    // has no deadline.
    let dir = tempfile::tempdir().unwrap();
    let list = "start_ns,src,dst,bytes,class,deadline_ns\n\
        0,0,1,15000,0,1000000\n10000000,0,1,25000,0,10005000\n20000000,0,1,1500000,0,30000000\n\
        40000000,0,1,1500000,0,50000000\n60000000,0,1,999,0,\n";
    std::fs::write(dir.path().join("flows.csv"), list).unwrap();
    let experiment = "title = \"t\"\nschemes = [\"dctcp\"]\nseeds = 1\n\
        time = { flows = 5, limit = \"1s\" }\n\
        topology = { kind = \"single_switch\", hosts = 2, host_link = { rate = \"10Gbps\", delay = \"1us\" } }\n\
        [[group]]\nname = \"all\"\nhosts = \"*\"\napp = \"flows\"\nlist = \"flows.csv\"\n";
    std::fs::write(dir.path().join("e.toml"), experiment).unwrap();
    let model = "experiment = \"e.toml\"\nsize_edges = [\"10B\", \"100kB\"]\ndeadline_edges = [\"100us\", \"2ms\"]\n\
        bytes = { scheme = \"dctcp\", scale = \"100kB\", exponent = -0.5 }\n";
    let found = asked(dir.path(), model).unwrap();
    // The class up to 10 B is empty and therefore dropped.
    assert_eq!((found.flows, found.left_out), (4.0, 1));
    assert_eq!((found.sizes, found.shares), (vec![20_000.0, 1_500_000.0], vec![0.5, 0.5]));
    assert_eq!(found.requirements, [5e-6, 1e-3, 1e-2]);
    assert_eq!(found.mix, [vec![0.5, 0.5, 0.0], vec![0.0, 0.0, 1.0]]);
    let bytes = found.bytes.unwrap();
    let seen = bytes.simulated.unwrap();
    // 25 kB take 20 us at line rate, so this flow misses its deadline; the others meet theirs.
    assert_eq!((seen.unfinished, seen.figures.missed), (0, vec![0.5, 0.0]));
    assert!(bytes.fitted);
    let (mean, expected) = (bytes.predicted.mean_s.unwrap(), seen.figures.mean_s.unwrap());
    assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} {expected}");
}

#[test]
fn what_makes_no_model_gets_one_message() {
    let with = |law: &str| refusal(&format!("{STATED}{law}\n"));
    assert_eq!(
        refusal(STATED),
        ":1: the file has no law. Use a table [bytes], a table [latency], or both.",
        "a traffic alone"
    );
    assert!(with("bytes = { scale = \"1kB\", exponent = -1 }").contains("the rate of the flows is unknown"));
    assert!(
        with("bytes = { rate = \"1Gbps\", exponent = -1 }").contains("gamma must be set by exactly one key")
    );
    for zero in ["scale = \"0B\"", "k = 0"] {
        let law = format!("bytes = {{ rate = \"1Gbps\", {zero}, exponent = -1 }}");
        assert!(with(&law).contains("the value is zero"), "{zero}");
    }
    assert!(with("bytes = { rate = \"1Gbps\", scale = \"1kB\", exponent = 0 }").contains("equal"));
    assert!(with("bytes = { rate = \"1Gbps\", scale = \"1kB\", exponent = 1 }").contains("out of range"));
    let offset = "bytes = { rate = \"1Gbps\", scale = \"1kB\", exponent = -1, offset = \"100B\" }";
    assert!(with(offset).contains("not below the smallest class"));
    assert!(
        with("latency = { rate = \"1Gbps\", k = 1, exponent = -1 }").contains("does not depend on traffic")
    );
    let scheme = "bytes = { rate = \"1Gbps\", scale = \"1kB\", exponent = -1, scheme = \"dctcp\" }";
    assert!(with(scheme).contains("cannot be simulated without an experiment"));
    let shares = format!("{STATED}{BYTES}").replace("0.25]", "0.35]");
    assert!(refusal(&shares).starts_with(":3: shares: there must be one share for each size"));
    assert!(refusal(&format!("{STATED}{BYTES}x = 1\n")).contains("unknown key"));
    let missing = format!("experiment = \"none.toml\"\n{BYTES}");
    let dir = tempfile::tempdir().unwrap();
    assert!(asked(dir.path(), &missing).unwrap_err().to_string().contains("cannot be read"));
}
