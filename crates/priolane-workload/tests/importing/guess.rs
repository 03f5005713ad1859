//! Formats that are guessed, and files of none.

use priolane_core::units::Span;
use priolane_workload::import::{self, Format, Options, Source};

use crate::support::{TOPOLOGY, read};

#[test]
fn what_cannot_be_guessed_says_what_it_may_be() {
    let refused = |text: &str| read(text, &Options::default()).unwrap_err().to_string();
    assert!(refused("").contains("it has no content"));
    assert!(refused("{\"ts\":1}\n").contains("JSON"));
    assert!(refused("[\n{\"src_addr\":1}\n").contains("jq -c"));
    assert!(refused("start_ns,src,dst,bytes\n0,0,1,5\n").contains("needs no import"));
    assert!(refused(TOPOLOGY).contains("--topology"));
    for head in ["5 1 1 4", "5 1 1 4 1 1", "5 8 1 0 4 A100"] {
        assert!(refused(&TOPOLOGY.replacen("5 1 4", head, 1)).contains("--topology"), "{head}");
    }
    for table in ["0 0\n10000 15\n30000000 100\n", "6 1 0\n20000 1 1\n", "1744.70\n1 0.025\n20 1.0\n"] {
        assert!(refused(table).contains("`priolane import sizes FILE -o sizes.csv` converts it"), "{table}");
    }
    let results = [
        "0b000201 0b000101 10000 100 200000000 2000000000 17000000 16500000\n",
        "bytes,start_ns,fct_ns\n1,0,9\n",
    ];
    assert!(
        results
            .into_iter()
            .all(|text| refused(text).contains("`priolane import fct FILE -o theirs` reads them"))
    );
    let switch = "{\n  \"PORT_QOS_MAP\": {\n    \"Ethernet0\": {}\n  }\n}\n";
    assert!(
        refused(switch).contains("`priolane import switch FILE -o switch.toml` reads it"),
        "{}",
        refused(switch)
    );
    let fields =
        "7 1 eni-0a 10.0.0.1 10.0.0.5 40122 5001 6 100 150000 1714521600 1714521660 ACCEPT OK extra\n";
    assert!(refused(fields).contains("no header names the 15 fields"), "{}", refused(fields));
    assert!(refused("hello world\n").contains("no known format. Use one of hpcc, htsim"));
    assert!(
        refused("1\n0 0 3 100 5 1\n")
            .contains("no flow of the file can be imported: source and destination are the same host (1)")
    );
    let gap = Options { gap: Some(Span(1)), ..Options::default() };
    assert!(
        read(sample!("yaps_nine.txt"), &gap)
            .unwrap_err()
            .what
            .contains("--gap has no meaning for the format yaps")
    );
    let far = "0 1 0 0 1 0 0 0 1\n1 9999999 0 0 1 0 0 0 1\n";
    assert!(refused(far).contains("26 days"));
    assert!(refused("0 1 0 0 1 0 0 0 70000\n").contains("--hosts"));
}

#[test]
fn files_that_are_no_text_say_what_makes_text_of_them() {
    let refused = |text: &[u8], format| {
        let source = Source { file: "x", format, network: None };
        import::read(text, source, &Options::default()).unwrap_err().to_string()
    };
    let capture = "x: the file is a packet capture. Run `zeek -C -r FILE` and then `priolane import zeek conn.log -o \
                   OUT.csv`; for exact starts, print its packets with the tshark command of docs/importing.md.";
    for begin in [b"\xd4\xc3\xb2\xa1\x02\0", b"\x0a\x0d\x0d\x0a\x1c\0", b"\xa1\xb2\x3c\x4d\0\x02"] {
        assert_eq!(refused(begin, None), capture);
        assert_eq!(refused(begin, Some(Format::Tshark)), capture);
    }
    let nfcapd = "x: the file is one that nfcapd wrote. Print its records with nfdump -r FILE -o csv.";
    assert_eq!(refused(b"\x0c\xa5\x02\0\x01", Some(Format::Nfdump)), nfcapd);
    assert_eq!(refused(b"\x1f\x8b\x08\0", Some(Format::Vpc)), "x: the file is compressed. Unpack it first.");
    assert!(refused(b"\xde\xad\xbe\xef", None).contains("rwcut"));
    assert_eq!(refused(b"PAR1", Some(Format::Vpc)), "x: the file is Parquet. Use a log in plain text.");
    let table = "=====\nTCP Conversations\nFilter:<No Filter>\n";
    assert!(refused(table.as_bytes(), None).contains("a table of conversations of tshark"));
}

#[test]
fn any_one_member_that_only_a_format_has_tells_it() {
    let refused = |text: &str| read(text, &Options::default()).unwrap_err().to_string();
    let unknown = "it looks like JSON, of which";
    assert!(refused("{\"src_addr\":\"10.0.0.1\"}\n").contains(unknown));
    for members in [
        "\"id.orig_h\":\"10.0.0.1\"",
        "\"src_addr\":\"10.0.0.1\",\"time_flow_start_ns\":1",
        "\"src_addr\":\"10.0.0.1\",\"time_flow_start\":1",
        "\"srcaddr\":\"10.0.0.1\"",
        "\"log-status\":\"OK\"",
        "\"log_status\":\"OK\"",
        "\"message\":\"none\"",
    ] {
        let why = refused(&format!("{{{members}}}\n"));
        assert!(!why.contains(unknown), "{members}: {why}");
    }
}
