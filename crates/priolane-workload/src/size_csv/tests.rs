use super::*;

fn linear(text: &[u8]) -> Result<SizeDistribution, InputError> {
    parse("t.csv", text, Interpolation::Linear)
}

#[test]
fn comments_order_spaces_and_quotes_do_not_matter() {
    let plain = linear(b"bytes,cdf\n0,0\n100,1\n").unwrap();
    assert_eq!(plain.mean(), 50.0);
    let fancy = b"\xef\xbb\xbf# source: me\r\n\r\n\"cdf\", bytes\r\n0 , 0\r\n# more\r\n1,\"1e2\"";
    assert_eq!(linear(fancy).unwrap(), plain);
    assert_eq!(linear(b"bytes,cdf\n1460,1\n").unwrap().mean(), 1460.0);
}

#[test]
fn each_defect_has_one_message_with_its_line() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "t.csv: the table is empty. Begin with the header bytes,cdf."),
        (b"# only this\n", "t.csv: the table is empty. Begin with the header bytes,cdf."),
        (b"bytes,cdf\n", "t.csv: the table has no rows. Use at least one row, the last with cdf 1."),
        (b"bytes\n1\n", "t.csv:1: cdf: the column is missing. Begin with the header bytes,cdf."),
        (
            b"0,0\n1,1\n",
            "t.csv:1: the table has no header `bytes,cdf`, as tables of other programs. Run `priolane import sizes t.csv \
             -o t.sizes.csv` and name the file that it writes.",
        ),
        (b"bytes,cdf,cdf\n", "t.csv:1: cdf: the column appears twice. Remove one of the two."),
        (
            b"bytes,cdf\n5\n",
            "t.csv:2: the row has 1 cells, but the header has 2. Use one cell for each column of the header.",
        ),
        (
            b"bytes,cdf\n5,1,2\n",
            "t.csv:2: the row has 3 cells, but the header has 2. Use one cell for each column of the header.",
        ),
        (
            b"bytes,cdf\n0,0\n#\n10kB,1\n",
            "t.csv:4: bytes: \"10kB\" is not a number. Use a plain number such as 10000 or 0.15.",
        ),
        (b"bytes,cdf\n0,\n", "t.csv:2: cdf: \"\" is not a number. Use a plain number such as 10000 or 0.15."),
        (
            b"bytes,cdf\n1,inf\n",
            "t.csv:2: the row contains a value that is not a finite number. Use finite numbers.",
        ),
        (
            b"bytes,cdf\nnan,0\n1,1\n",
            "t.csv:2: the row contains a value that is not a finite number. Use finite numbers.",
        ),
        (b"bytes,cdf\n-1,0\n1,1\n", "t.csv:2: bytes: the size is negative. Use sizes of at least 0."),
        (
            b"bytes,cdf\n1,0\n1e15,1\n",
            "t.csv:3: bytes: the size is above 2^47 bytes. Use sizes in bytes of at most 140 TB.",
        ),
        (
            b"bytes,cdf\n5,0\n\n4,1\n",
            "t.csv:4: bytes: the size is smaller than in the row before. Use rows sorted by size.",
        ),
        (
            b"bytes,cdf\n5,0.5\n6,0.4\n7,1\n",
            "t.csv:3: cdf: the probability is smaller than in the row before. Use cumulative probabilities, \
             not those of single rows.",
        ),
        (
            b"bytes,cdf\n5,0\n6,100\n",
            "t.csv:3: cdf: the cumulative probability is outside [0, 1]. Use a number from 0 to 1, such as \
             0.8 for 80 %.",
        ),
        (
            b"bytes,cdf\n5,0\n6,0.9\n",
            "t.csv:3: cdf: the cumulative probability ends at 0.9, not at 1. Use cdf 1 in the last row.",
        ),
        (b"bytes,cdf\n0,0\n0.5,1\n", "t.csv:3: bytes: the largest size is below 1 byte. Use sizes in bytes."),
        (
            b"bytes,cdf\n0,0\n5\0,1\n",
            "t.csv:3: the line contains a NUL byte. Use a text table in CSV format.",
        ),
        (b"bytes,cdf\n0,0\n5\xff,1\n", "t.csv:3: the line is not UTF-8 text. Save the table as UTF-8."),
    ];
    for (text, message) in cases {
        assert_eq!(linear(text).unwrap_err().to_string(), *message);
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let long = [b"bytes,cdf\n", vec![b'1'; 65_537].as_slice()].concat();
    let message = linear(&long).unwrap_err().to_string();
    assert_eq!(message, "t.csv:2: the line is longer than 64 KiB. Use a text table in CSV format.");
    let large = linear(&vec![b'\n'; MAX_TABLE + 1]).unwrap_err().to_string();
    assert_eq!(large, "t.csv: the table is larger than 1 MiB. Use fewer rows.");
    let cut = linear(format!("{}\n", "x".repeat(60)).as_bytes()).unwrap_err().what;
    assert_eq!(cut, format!("unknown column \"{}\"...", "x".repeat(40)));
}

#[test]
fn names_come_before_paths() {
    assert_eq!(read("web_search", Interpolation::Linear).unwrap().max(), 30e6);
    let error = read("no/such.csv", Interpolation::Linear).unwrap_err();
    assert!(error.what.starts_with("the file cannot be read: "), "{error}");
    assert_eq!(
        error.fix,
        "the path of a CSV file or one of web_search, web_search_pkt1460, data_mining, data_mining_vl2, \
         imc10, \
         facebook_hadoop"
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/imc10.csv");
    let (by_path, by_name) = (read(path, Interpolation::Step), read("imc10", Interpolation::Step));
    assert_eq!(by_path, by_name);
}

#[test]
fn every_shipped_table_says_where_it_is_from() {
    for name in names() {
        assert!(shipped(name).unwrap().starts_with("# source: "), "{name}");
    }
}
