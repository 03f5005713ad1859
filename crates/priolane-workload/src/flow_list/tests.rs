use super::*;
use crate::tests::flow;

fn four_hosts(text: &str) -> Result<Vec<FlowSpec>, InputError> {
    read(text.as_bytes(), "f.csv", 4)
}

#[test]
fn rows_are_flows() {
    let flows = four_hosts("start_ns,src,dst,bytes\n0,0,1,1460\n1500.125,3,2,1\n7.5,1,0,endless\n").unwrap();
    let mut want = [flow(0, 0, 1, Some(1460)), flow(1_500_125, 3, 2, Some(1)), flow(7500, 1, 0, None)];
    for (id, flow) in (0..).zip(&mut want) {
        flow.id = FlowId(id);
    }
    assert_eq!(flows, want);
}

#[test]
fn columns_stand_in_any_order_and_may_be_left_out_or_empty() {
    let flows =
        four_hosts("deadline_ns,bytes,dst,src,start_ns,class\n,5,1,0,10,\n10.001,5,1,0,10,15").unwrap();
    assert_eq!((flows[0].class, flows[0].deadline), (0, None));
    assert_eq!((flows[1].class, flows[1].deadline), (15, Some(Time(10_001))));
}

#[test]
fn what_is_written_is_read_back() {
    let mut flows =
        vec![flow(0, 0, 1, Some(1)), flow(1, 3, 2, None), flow(LATEST_START.0, 2, 0, Some(1 << 47))];
    (flows[0].class, flows[0].deadline) = (7, Some(Time(1_234_567)));
    for (id, flow) in (0..).zip(&mut flows) {
        flow.id = FlowId(id);
    }
    let mut text = Vec::new();
    write(&mut text, &flows).unwrap();
    let text = String::from_utf8(text).unwrap();
    let head = "start_ns,src,dst,bytes,class,deadline_ns\n0,0,1,1,7,1234.567\n0.001,3,2,endless,0,\n";
    assert!(text.starts_with(head), "{text}");
    assert_eq!(four_hosts(&text).unwrap(), flows);
}

#[test]
fn each_defect_has_one_message_with_its_line() {
    const HEAD: &str = "start_ns,src,dst,bytes,class,deadline_ns\n";
    let headers = [
        ("", "f.csv: the table is empty. Begin with the header start_ns,src,dst,bytes."),
        (
            "0,0,1,5\n",
            "f.csv:1: unknown column \"0\". Use one of start_ns, src, dst, bytes, class, deadline_ns, \
             coflow, after, delay_ns, path, connection.",
        ),
        (
            "src,dst,bytes\n",
            "f.csv:1: start_ns: the column is missing. Begin with the header start_ns,src,dst,bytes.",
        ),
        (HEAD, "f.csv: the list has no flows. Use at least one row."),
    ];
    for (text, message) in headers {
        assert_eq!(four_hosts(text).unwrap_err().to_string(), message);
    }
    let time = "Use nanoseconds with at most three decimals, such as 1500 or 0.125.";
    let deadline =
        "the deadline is not after the start. Use an instant on the clock of start_ns that is after it.";
    let rows = [
        (
            "0,0,1",
            "the row has 3 cells, but the header has 6. Use one cell for each column of the header.".into(),
        ),
        ("-1,0,1,5,0,", format!("start_ns: \"-1\" is not a time. {time}")),
        ("1.0005,0,1,5,0,", format!("start_ns: \"1.0005\" is not a time. {time}")),
        ("1e3,0,1,5,0,", format!("start_ns: \"1e3\" is not a time. {time}")),
        ("1.,0,1,5,0,", format!("start_ns: \"1.\" is not a time. {time}")),
        (",0,1,5,0,", format!("start_ns: \"\" is not a time. {time}")),
        (
            "99999999999999999999,0,1,5,0,",
            format!("start_ns: \"99999999999999999999\" is not a time. {time}"),
        ),
        ("9000000000000000,0,1,5,0,", "start_ns: the time is above 26 days. Use nanoseconds.".into()),
        ("0,4,1,5,0,", "src: unknown host 4. Use a host from 0 to 3.".into()),
        ("0,0,65537,5,0,", "dst: unknown host 65537. Use a host from 0 to 3.".into()),
        ("0,h0,1,5,0,", "src: \"h0\" is not a whole number. Use digits only.".into()),
        ("0,+0,1,5,0,", "src: \"+0\" is not a whole number. Use digits only.".into()),
        (
            "0,2,2,5,0,",
            "dst: the flow goes from a host to itself. Use two different hosts, or 0 bytes for a step."
                .into(),
        ),
        (
            "0,0,1,0,0,",
            "bytes: the flow has no bytes. Use at least 1 byte, endless, or src = dst for a step.".into(),
        ),
        ("0,0,1,1.5,0,", "bytes: \"1.5\" is not a whole number. Use digits only.".into()),
        (
            "0,0,1,140737488355329,0,",
            "bytes: the flow is larger than 2^47 bytes. Use endless for a flow without end.".into(),
        ),
        ("0,0,1,5,16,", "class: unknown class 16. Use a class from 0 to 15, 0 first.".into()),
        ("9,0,1,5,0,9", format!("deadline_ns: {deadline}")),
        ("0,0,1,5\0,0,", "the line contains a NUL byte. Use a text table in CSV format.".into()),
    ];
    for (row, message) in rows {
        let error = four_hosts(&format!("{HEAD}0,0,1,5,0,\n{row}\n")).unwrap_err();
        assert_eq!(error.to_string(), format!("f.csv:3: {message}"));
    }
}

#[test]
fn the_list_ends_at_the_first_error_and_at_its_limit() {
    let text = "start_ns,src,dst,bytes\n0,0,1,5\n0,0,0,5\n0,0,1,5\n";
    let mut reader = Reader::new(text.as_bytes(), "f.csv", 4).unwrap();
    let ok: Vec<bool> = reader.by_ref().map(|row| row.is_ok()).collect();
    assert_eq!(ok, [true, false]);
    let text = "start_ns,src,dst,bytes\n0,0,1,5\n0,0,1,5\n# not counted\n0,0,1,5\n";
    let mut reader = Reader::new(text.as_bytes(), "f.csv", 4).unwrap();
    reader.0.limit = 2;
    let error = reader.collect::<Result<Vec<_>, _>>().unwrap_err();
    assert_eq!(error.to_string(), "f.csv:5: the list has more than 2 flows. Split the list.");
}

#[test]
fn a_line_without_end_is_refused_without_being_held() {
    let endless = std::io::repeat(b'7');
    let error = read(std::io::BufReader::new(endless), "f.csv", 4).unwrap_err();
    assert_eq!(error.to_string(), "f.csv:1: the line is longer than 64 KiB. Use a text table in CSV format.");
}

#[test]
fn a_file_that_cannot_be_read_says_so() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk on fire"))
        }
    }
    let error = read(std::io::BufReader::new(Broken), "f.csv", 4).unwrap_err();
    assert_eq!(error.to_string(), "f.csv: reading failed: disk on fire. Check the file.");
}

#[test]
fn flows_name_their_coflows_and_flows_wait_for_those_that_they_name() {
    let labelled = "start_ns,src,dst,bytes,coflow\n0,0,1,5,9\n0,1,2,5,\n";
    assert_eq!(four_hosts(labelled).unwrap().len(), 2);
    let rows = read_rows(labelled.as_bytes(), "f.csv", 4).unwrap();
    assert_eq!((rows[0].flow.coflow, rows[1].flow.coflow), (CoflowId::new(9), None));

    let waiting = "start_ns,src,dst,bytes,after,delay_ns\n0,0,1,5,,\n0,1,2,5,0,2.5\n0,2,3,5,1+0+1,\n";
    assert_eq!(four_hosts(waiting).unwrap().len(), 3);
    assert!(Reader::new(waiting.as_bytes(), "f.csv", 4).unwrap().has_waits());
    let rows = read_rows(waiting.as_bytes(), "f.csv", 4).unwrap();
    let row = |row| After::row(FlowId(row));
    assert_eq!((&rows[1].after[..], rows[1].delay), (&[row(0)][..], Some(Span(2500))));
    assert_eq!((&rows[2].after[..], rows[2].delay), (&[row(0), row(1)][..], None));
}

#[test]
fn rows_that_are_written_are_read_back() {
    let text = "start_ns,src,dst,bytes,class,coflow,after,delay_ns\n0,0,1,5,3,,,\n1.500,1,2,6,0,4,0,\n2,2,3,7,1,4,0+1,0.001\n";
    let rows = read_rows(text.as_bytes(), "f.csv", 4).unwrap();
    let mut written = Vec::new();
    let mut writer =
        Writer::new(&mut written, &[OptionalColumn::Class, OptionalColumn::Coflow, OptionalColumn::After])
            .unwrap();
    rows.iter().for_each(|row| writer.row(row).unwrap());
    assert_eq!(String::from_utf8(written).unwrap(), text);
}

#[test]
fn flows_wait_for_flows_of_the_list_and_not_in_a_circle() {
    let rows = |rows: &str| {
        let text = format!("start_ns,src,dst,bytes,after,delay_ns\n{rows}");
        read_rows(text.as_bytes(), "f.csv", 4).unwrap_err().to_string()
    };
    assert!(rows("0,0,1,5,,\n0,0,1,5,2,\n").contains("row 1 depends on row 2, which does not exist"));
    assert!(rows("0,0,1,5,,\n0,0,1,5,2,\n0,0,1,5,1,\n").contains("row 1 depends on rows that depend on it"));
    assert!(rows("0,0,1,5,0,\n").contains("row 0 depends"));
    assert!(rows("0,0,1,5,1++2,\n").contains("does not name rows"));
    assert!(rows("0,0,1,5,,3\n").contains("f.csv:2: delay_ns: the flow depends on no other row"));
    let at_once = "row 1 begins at host 2 at once when row 0 ends at host 1, but a notification takes time";
    assert!(rows("0,0,1,5,,\n0,2,3,5,0,0\n").contains(at_once));
    assert!(rows("0,0,1,5,,\n0,2,3,5,0@0,\n").contains(at_once));
    assert!(rows("0,0,1,endless,,\n0,1,2,5,0,1\n").contains("row 1 depends on row 0, whose flow never ends"));
}

#[test]
fn a_row_may_state_the_number_of_its_path() {
    let text = "start_ns,src,dst,bytes,path\n0,0,1,5,65535\n0,1,2,5,\n";
    let rows = read_rows(text.as_bytes(), "f.csv", 4).unwrap();
    assert_eq!([rows[0].path, rows[1].path], [Some(65_535), None]);
    assert!(Reader::new(text.as_bytes(), "f.csv", 4).unwrap().has_paths());
    assert!(!Reader::new(&b"start_ns,src,dst,bytes\n"[..], "f.csv", 4).unwrap().has_paths());
    let error = read_rows(text.replace("65535", "65536").as_bytes(), "f.csv", 4).unwrap_err().to_string();
    assert!(error.starts_with("f.csv:2: path: the path number 65536 is out of range"), "{error}");
}

#[test]
fn tables_of_pandas_are_read_or_their_option_is_named() {
    let read = |text: &str| read_rows(text.as_bytes(), "f.csv", 4);
    let plain = read("start_ns,src,dst,bytes\n0,0,1,10000\n").unwrap();
    assert_eq!(read("start_ns,src,dst,bytes\n0.0,0.0,1.0,10000.0\n").unwrap(), plain);
    assert!(read("start_ns,src,dst,bytes\n0,0,1,10000.5\n").unwrap_err().what.contains("not a whole number"));
    assert!(read("start_ns,src,dst,bytes\n0,0,1,.0\n").unwrap_err().what.contains("not a whole number"));
    let index = read(",start_ns,src,dst,bytes\n0,0,0,1,10000\n").unwrap_err().to_string();
    assert!(index.contains("a column has no name") && index.contains("index=False"), "{index}");
    for separator in [";", "\t"] {
        let text = "start_ns,src,dst,bytes\n0,0,1,10000\n".replace(',', separator);
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains("cells are separated by") && error.contains("index=False"), "{error}");
    }
}

#[test]
fn each_predecessor_may_have_a_delay_of_its_own() {
    let head = "start_ns,src,dst,bytes,after,delay_ns\n0,0,1,5,,\n0,2,1,5,,\n";
    let row = |cells: &str| {
        let text = format!("{head}{cells}\n");
        let rows = read_rows(text.as_bytes(), "f.csv", 4).unwrap();
        let mut written = Vec::new();
        let mut writer = Writer::new(&mut written, &[OptionalColumn::After]).unwrap();
        rows.iter().for_each(|row| writer.row(row).unwrap());
        assert_eq!(read_rows(&written[..], "f.csv", 4).unwrap(), rows);
        let row = rows[2].clone();
        let of = |first: &After| row.stated_delay(first, &rows[first.row.index()]);
        row.after.iter().map(|first| (first.row.0, of(first).map(|span| span.0))).collect::<Vec<_>>()
    };
    assert_eq!(row("0,3,2,5,1@0.5+0@20,"), [(0, Some(20_000)), (1, Some(500))]);
    // `delay_ns` adds to all; without either, the app's delay holds.
    assert_eq!(row("0,3,2,5,1@0.5+0,3"), [(0, Some(3_000)), (1, Some(3_500))]);
    assert_eq!(row("0,3,2,5,1@0.5+0,"), [(0, None), (1, Some(500))]);
    // The longer delay counts for a row that is named twice.
    assert_eq!(row("0,3,2,5,1@1+1@2+1,"), [(1, Some(2_000))]);
    // Within a host, a signal may take no time.
    assert_eq!(row("0,1,2,5,0@0+1@0,"), [(0, Some(0)), (1, Some(0))]);
    let fault =
        |cells: &str| read_rows(format!("{head}{cells}\n").as_bytes(), "f.csv", 4).unwrap_err().to_string();
    for wrong in ["1@", "1@x", "1@-1", "@5", "1@5@6", "1@0.0001", "1@9000000000000000"] {
        let found = fault(&format!("0,3,2,5,0+{wrong},"));
        assert!(
            found.starts_with(&format!("f.csv:4: after: \"0+{wrong}\" does not name rows: see")),
            "{found}"
        );
    }
    let late = fault("0,3,2,5,0@2246400000000000,1");
    assert!(late.contains("row 2 ends more than 26 days after the begin"), "{late}");
}

#[test]
fn a_row_without_bytes_of_one_host_is_a_step() {
    let head = "start_ns,src,dst,bytes,class,deadline_ns,coflow,after,delay_ns,path\n";
    let read = |rows: &str| read_rows(format!("{head}{rows}").as_bytes(), "f.csv", 4);
    let rows = read("0,0,1,5,,,,,,\n7,1,1,0,0,,,0,2.5,\n0,1,2,5,,,,1,,\n0,3,3,0,,,,0@1,,\n5,2,2,0,,,,,9,\n")
        .unwrap();
    assert_eq!(rows.iter().map(Row::is_step).collect::<Vec<_>>(), [false, true, false, true, true]);
    let step = &rows[1];
    assert_eq!((step.flow.start, step.flow.src, step.delay), (Time(7_000), HostId(1), Some(Span(2_500))));
    // Before and after a step within its host no time passes, and `delay_ns` of a step is its duration.
    assert_eq!(step.stated_delay(&step.after[0], &rows[0]), Some(Span::ZERO));
    assert_eq!(rows[2].stated_delay(&rows[2].after[0], step), Some(Span::ZERO));
    assert_eq!(rows[3].stated_delay(&rows[3].after[0], &rows[0]), Some(Span(1_000)));
    // Between hosts it is the app's, where the list states none.
    let far = read("0,0,1,5,,,,,,\n0,2,2,0,,,,0,9,\n").unwrap();
    assert_eq!(far[1].stated_delay(&far[1].after[0], &far[0]), None);
    // Readers of flows do not see steps.
    let text = format!("{head}0,0,1,5,,,,,,\n7,1,1,0,0,,,0,2.5,\n0,1,2,6,,,,1,,\n");
    let flows = super::read(text.as_bytes(), "f.csv", 4).unwrap();
    assert_eq!(
        flows.iter().map(|flow| (flow.id.0, flow.size)).collect::<Vec<_>>(),
        [(0, Some(5)), (2, Some(6))]
    );
    let fault = |rows: &str| read(rows).unwrap_err().to_string();
    for (cells, column) in [("3,,,", "class"), (",9,,", "deadline_ns"), (",,9,", "coflow")] {
        let found = fault(&format!("0,1,1,0,{cells},,\n"));
        assert!(found.starts_with(&format!("f.csv:2: {column}: the row is a step")), "{found}");
    }
    assert!(fault("0,1,1,0,,,,,,4\n").starts_with("f.csv:2: path: the row is a step"));
    let elsewhere = fault("0,0,1,5,,,,,,\n0,1,1,0,,,,0,,\n0,2,3,5,,,,1,,\n");
    assert!(elsewhere.contains("row 2 begins at host 2, but row 1 is a step of host 1"), "{elsewhere}");
    let at_once = fault("0,0,1,5,,,,,,\n0,2,2,0,,,,0@0,,\n");
    assert!(at_once.contains("row 1 begins at host 2 at once"), "{at_once}");
    let day = 86_400_000_000_000_u64;
    let late = fault(&format!("0,1,1,0,,,,,{},\n0,1,1,0,,,,0,{},\n", 20 * day, 7 * day));
    assert!(late.contains("row 1 ends more than 26 days after the begin"), "{late}");
    assert!(fault("0,1,1,0,,,,1,,\n0,1,1,0,,,,0,,\n").contains("row 0 depends on rows that depend on it"));
}

#[test]
fn flows_with_a_name_in_common_share_a_connection() {
    let text = "start_ns,src,dst,bytes,connection\n0,0,1,5,web\n0,1,2,5,\n0,0,1,5,9\n0,2,1,5,web\n";
    let rows = read_rows(text.as_bytes(), "f.csv", 4).unwrap();
    let numbers: Vec<_> = rows.iter().map(|row| row.flow.connection.map(|of| of.number())).collect();
    assert_eq!(numbers, [Some(0), None, Some(1), Some(0)]);
    assert!(Reader::new(text.as_bytes(), "f.csv", 4).unwrap().has_connections());
    let fault = |row: &str| {
        let text = format!("start_ns,src,dst,bytes,path,connection\n{row}\n");
        read_rows(text.as_bytes(), "f.csv", 4).unwrap_err().to_string()
    };
    assert!(fault("0,0,1,endless,,web").starts_with("f.csv:2: connection: the flow has no end"));
    assert!(fault("0,0,1,5,3,web").starts_with("f.csv:2: connection: the flow states a path"));
    assert!(fault("0,1,1,0,,web").starts_with("f.csv:2: connection: the row is a step"));
}
