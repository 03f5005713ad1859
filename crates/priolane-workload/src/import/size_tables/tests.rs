use priolane_source::InputError;

use super::*;

const PERCENT: &str = "0 0\n10000 15\n50000 40\n1000000 80\n30000000 100\n";
const PARTS: &str = "0     0\n10000 0.15\n50000 0.4\n30000000 1\n";
const SMALL_START: &str = "0 0\n53 0.074\n64 37\n5000000 100\n";
const PACKETS: &str = "6 1 0\n6 1 0.15\n53 1 0.53\n667 1 0.7\n20000 1 1\n";
const FLAT: &str = "150 1 0\n300 1 0.12\n300 1 0.2\n600 1 0.2\n5000000 1 1.0\n";
const MEAN_FIRST: &str = "1744.70\n1      0.025\n20      0.5\n20000   1.0\n";
const OWN: &str = "bytes,cdf\n0,0\n10000,0.15\n20000,1\n";

fn stated(unit: SizeUnit) -> Options {
    Options { unit: Some(unit), ..Options::default() }
}

fn found(text: &str, options: &Options) -> Result<ConvertedSizes, InputError> {
    convert("t.txt", text.as_bytes(), options)
}

/// The mean of the rows that were written, by the trapezoid rule: half the sum of the sizes of two rows, times what the
/// probability grows between them.
fn mean_of_rows(text: &str) -> f64 {
    let rows: Vec<(f64, f64)> = text
        .lines()
        .skip_while(|line| *line != "bytes,cdf")
        .skip(1)
        .map(|line| line.split_once(',').map(|(x, p)| (x.parse().unwrap(), p.parse().unwrap())).unwrap())
        .collect();
    let first = rows[0].0 * rows[0].1;
    first + rows.windows(2).map(|pair| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1)).sum::<f64>()
}

#[test]
fn every_form_gives_the_mean_that_is_computed_by_hand() {
    let packets = stated(SizeUnit::Packets);
    let none = Options::default();
    let cases = [
        // 0.15 x 5000 + 0.25 x 30000 + 0.4 x 525000 + 0.2 x 15.5 MB
        (PERCENT, &none, 3_318_250.0),
        // 0.15 x 5000 + 0.25 x 30000 + 0.6 x 15.025 MB
        (PARTS, &none, 9_023_250.0),
        // 0.00074 x 26.5 + 0.36926 x 58.5 + 0.63 x 2500032
        (SMALL_START, &none, 1_575_041.781_32),
        // 1460 x (0.15 x 6 + 0.38 x 29.5 + 0.17 x 360 + 0.3 x 10333.5)
        (PACKETS, &packets, 4_633_105.6),
        // 0.12 x 225 + 0.08 x 300 + 0.8 x 2500300
        (FLAT, &none, 2_000_291.0),
        // 1460 x (0.025 x 1 + 0.475 x 20 + 0.5 x 20000)
        (MEAN_FIRST, &packets, 14_613_906.5),
        // 0.15 x 5000 + 0.85 x 15000
        (OWN, &none, 13_500.0),
    ];
    for (text, options, mean) in cases {
        let table = found(text, options).unwrap();
        assert!((table.form.mean_bytes / mean - 1.0).abs() < 1e-12, "{text}: {}", table.form.mean_bytes);
        assert!((mean_of_rows(&table.text) / mean - 1.0).abs() < 1e-12, "{text}: {}", table.text);
        let law = crate::size_csv::parse("t.csv", table.text.as_bytes(), table.law.interpolation()).unwrap();
        assert!((law.mean() / mean - 1.0).abs() < 1e-12, "{text}");
    }
}

#[test]
fn sizes_that_may_be_bytes_or_packets_are_named_with_both_means() {
    let error = found(PACKETS, &Options::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "t.txt: sizes may be bytes (mean 3.1734 kB) or packets of 1460 bytes (mean 4.6331 MB). Use --unit bytes or \
         --unit packets."
    );
    assert!(found(MEAN_FIRST, &Options::default()).unwrap_err().what.contains("mean 14.6139 MB"));
    // From 40 packets on, or above 2 GB, packets are not meant. 1369863 packets of 1460 B are 1,999,999,980 B.
    let unit = |text: &str| found(text, &Options::default()).map(|table| table.form.unit).ok();
    assert_eq!(unit("39 0\n1369863 1\n"), None);
    assert_eq!(unit("40 0\n1369863 1\n"), Some(SizeUnit::Bytes));
    assert_eq!(unit("39 0\n1369864 1\n"), Some(SizeUnit::Bytes));
    assert_eq!(unit("0 0\n20 1\n"), Some(SizeUnit::Bytes));
    assert_eq!(unit("pkts prob\n1 0\n20 1\n"), Some(SizeUnit::Packets));
    let small = Options { packet: Some(1000), ..stated(SizeUnit::Packets) };
    assert_eq!(found(PACKETS, &small).unwrap().law.max(), 2e7);
    let mss = Options { packet: Some(1000), ..Options::default() };
    assert!(found(PARTS, &mss).unwrap_err().to_string().contains("--mss has no meaning"));
}

#[test]
fn a_table_of_steps_means_the_same_with_either_interpolation() {
    let step = Options { interpolation: Some(Interpolation::Step), ..Options::default() };
    for text in [PARTS, FLAT, "100 0.5\n1456 0.65\n10000 0.75\n100000 0.999\n1000000 1.0\n"] {
        let table = found(text, &step).unwrap();
        for interpolation in [Interpolation::Linear, Interpolation::Step] {
            let law = crate::size_csv::parse("t.csv", table.text.as_bytes(), interpolation).unwrap();
            assert!((law.mean() / table.law.mean() - 1.0).abs() < 1e-12, "{}", table.text);
            for nth in 1..100 {
                let part = f64::from(nth) / 100.0 + 1e-4;
                assert_eq!(law.quantile(part), table.law.quantile(part), "{part} of {}", table.text);
            }
        }
    }
}

#[test]
fn a_stated_mean_decides_what_lies_between_rows() {
    // Steps: 0.5 x 100 + 0.15 x 1456 + 0.1 x 10000 + 0.249 x 100000 + 0.001 x 1000000.
    let steps = "27168.2\n100  0.5\n1456  0.65\n10000  0.75\n100000  0.999\n1000000  1.0\n";
    let table = found(steps, &Options::default()).unwrap();
    assert_eq!((table.form.interpolation, table.form.stated_mean), ("step", Some(27168.2)));
    assert!(table.form.interpolation_from.contains("that of steps"));
    assert!((table.law.mean() - 27_168.4).abs() < 1e-6);
    let lines = format!("3318250\n{PERCENT}");
    assert_eq!(found(&lines, &Options::default()).unwrap().form.interpolation, "linear");
    let neither = found(MEAN_FIRST, &stated(SizeUnit::Packets)).unwrap().form;
    assert_eq!(neither.interpolation, "step");
    assert!(
        neither.notes.iter().any(|note| note.contains("mean of 1744.7, but that of the rows is 10009.5"))
    );
}

#[test]
fn odd_ends_are_mended_and_told_and_others_are_refused() {
    let near = found("0 0\n100 50\n200 99.99\n", &Options::default()).unwrap();
    assert!(near.form.notes.iter().any(|note| note.contains("99.99 in the file and was taken as 100")));
    // 0.5 x 50 + 0.5 x 150
    assert!((near.law.mean() - 100.0).abs() < 1e-12);
    let above = found("0 0\n100 0.5\n200 1.0001\n200 1.0001\n", &Options::default()).unwrap();
    assert!((above.law.mean() - 100.0).abs() < 1e-12);
    let first = found("100 0.25\n200 1\n", &Options::default()).unwrap();
    assert!(first.form.notes.iter().any(|note| note.starts_with("the first row begins at 25.0000 %")));
    let cases = [
        ("", "t.txt: the table has no rows."),
        ("5\n", "t.txt: the table has no rows."),
        ("0 0\n100 0.47\n", "t.txt:2: the last probability is 0.47, which is neither 1 nor 100 (per cent)."),
        ("0 0\n100 0.5 1\n", "t.txt:2: the row has 3 columns, but the first row has 2."),
        ("0 0\n100 half\n200 1\n", "t.txt:2: \"half\" is not a number."),
        ("0 0\nnan 0.5\n200 1\n", "t.txt:2: \"nan\" is not a number."),
        ("0 0\n100 0.5\n90 1\n", "t.txt:3: size: the size is smaller than in the row before."),
        (
            "0 0\n100 0.5\n120 0.4\n200 1\n",
            "t.txt:3: cdf: the probability is smaller than in the row before.",
        ),
        ("0 -1\n100 1\n", "t.txt:1: cdf: the cumulative probability is outside [0, 1]."),
        ("hello\n", "t.txt:1: \"hello\" is neither a mean size nor a row."),
        ("1 2 3 4\n", "t.txt:1: the row has 4 columns."),
    ];
    for (text, message) in cases {
        let error = found(text, &Options::default()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

#[test]
fn separators_headers_and_comments_do_not_matter() {
    let plain = found(PARTS, &Options::default()).unwrap();
    let cases = [
        PARTS.replace("     ", " ").replace(' ', ","),
        PARTS.replace("     ", " ").replace(' ', ";"),
        PARTS.replace("     ", " ").replace(' ', "\t"),
        format!("# web\n\nsize cdf\n{PARTS}"),
        "cdf,size\n0,0\n0.15,10000\n0.4,50000\n1,30000000\n".to_owned(),
    ];
    for text in cases {
        assert_eq!(found(&text, &Options::default()).unwrap().law, plain.law, "{text}");
    }
}

#[test]
fn only_tables_of_others_are_foreign() {
    for text in [PERCENT, PARTS, FLAT, MEAN_FIRST, "0,0\n1,1\n", "bytes cdf\n0 0\n"] {
        assert!(crate::size_cells::is_foreign(text.as_bytes()), "{text}");
    }
    for text in [OWN, "", "bytes\n", "start_ns,src,dst,bytes\n", "hello world\n", "[topology]\n"] {
        assert!(!crate::size_cells::is_foreign(text.as_bytes()), "{text}");
    }
    let error = crate::size_csv::parse("my/web.txt", PERCENT.as_bytes(), Interpolation::Linear).unwrap_err();
    assert_eq!(
        error.to_string(),
        "my/web.txt:1: the table has no header `bytes,cdf`, as tables of other programs. Run `priolane import sizes \
         my/web.txt -o web.sizes.csv` and name the file that it writes."
    );
}
