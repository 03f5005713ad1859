use super::*;

fn read(value: &Value<'_>) -> Result<Nic, KeyError> {
    <Nic as KeyValue>::read(value, &Bounds::ANY)
}

#[test]
fn every_nic_is_read_from_what_it_is_written_as() {
    for (name, notation) in Nic::PARTS {
        let port = Value::Table(vec![
            ("kind", Value::Text("fifo")),
            ("buffer", Value::Table(vec![("shared", Value::Text("30pkt"))])),
        ]);
        let value = match notation {
            Notation::Name => Value::Text(name),
            Notation::Tag => Value::Table(vec![("queue", Value::Text(name)), ("limit", Value::Text("9pkt"))]),
            Notation::Key => Value::Table(vec![(name, port)]),
        };
        let nic = read(&value).unwrap();
        assert_eq!(nic.name(), *name);
        let written = KeyValue::write(&nic);
        assert_eq!(read(&written.as_value()).unwrap(), nic, "{written}");
    }
}

#[test]
fn what_is_no_nic_is_refused_with_all_forms() {
    let forms = "\"pull\" | \"tokens\" | { queue = \"fifo\" } | { port = { ... } }";
    let wrong = |what: &str| KeyError::new(what, forms);
    assert_eq!(read(&Value::Text("push")), Err(wrong("unknown value \"push\"")));
    // A queue is named by a word in a table, not by a word instead of the table.
    assert_eq!(read(&Value::Text("fifo")), Err(wrong("unknown value \"fifo\"")));
    assert_eq!(read(&Value::Integer(1)), Err(wrong("the value is a whole number")));
    let both = Value::Table(vec![("queue", Value::Text("fifo")), ("port", Value::Table(vec![]))]);
    let twice = KeyError::new("both queue and port are set", "only one of them");
    assert_eq!(read(&both), Err(KeyError::Key("port".to_owned(), Box::new(twice))));
    let word = Value::Table(vec![("queue", Value::Text("pull"))]);
    let known = KeyError::Word { given: "pull".to_owned(), known: vec!["fifo", "host", "ports"] };
    assert_eq!(read(&word), Err(KeyError::Key("queue".to_owned(), Box::new(known))));
    let missing = KeyError::Missing { key: "queue", example: "queue = \"fifo\"".to_owned(), read: vec![] };
    assert_eq!(read(&Value::Table(vec![("limit", Value::Text("9pkt"))])), Err(missing));
}
