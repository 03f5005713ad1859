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
             coflow, after, delay_ns, path.",
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
        ("0,2,2,5,0,", "dst: the flow goes from a host to itself. Use two different hosts.".into()),
        ("0,0,1,0,0,", "bytes: the flow has no bytes. Use at least 1 byte, or endless.".into()),
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
    assert_eq!((&rows[1].after[..], rows[1].delay), (&[FlowId(0)][..], Some(Span(2500))));
    assert_eq!((&rows[2].after[..], rows[2].delay), (&[FlowId(0), FlowId(1)][..], None));
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
    assert!(rows("0,0,1,5,,\n0,0,1,5,2,\n0,0,1,5,1,\n").contains("row 1 depends on flows that depend on it"));
    assert!(rows("0,0,1,5,0,\n").contains("row 0 depends"));
    assert!(rows("0,0,1,5,1++2,\n").contains("does not name rows"));
    assert!(rows("0,0,1,5,,3\n").contains("f.csv:2: delay_ns: the flow depends on no other flow"));
    assert!(rows("0,0,1,5,,\n0,1,2,5,0,0\n").contains("f.csv:3: delay_ns: the delay is zero"));
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
