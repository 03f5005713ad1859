//! Each column of a row has the value of its own field: all fields differ here.

use priolane_core::ids::{CoflowId, LinkId};
use priolane_core::units::{Span, Time};
use priolane_results::cell::View;
use priolane_results::compare::first_difference;
use priolane_results::flows::met_deadline;
use priolane_results::rows::{Rows, Table};
use priolane_sim::outcome::{ClassSpan, FlowRecord, PortClassRecord};
use priolane_testkit::made_up::MadeUp;

/// The cells of a table's row, as `name=value`.
fn row(fixture: &MadeUp, table: Table, place: usize) -> Vec<String> {
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let batch = rows.batches(table).next().unwrap();
    let columns = View::all(&batch).unwrap();
    let names = batch.schema();
    let cell =
        |(column, view): (usize, &View<'_>)| format!("{}={}", names.field(column).name(), view.cell(place));
    columns.iter().enumerate().map(cell).collect()
}

#[test]
fn columns_of_flows_have_the_fields_of_their_names() {
    let mut fixture = MadeUp::with_flows(2);
    fixture.scenario.flows.edit(1, |flow| {
        flow.deadline = Some(Time(9_000));
        flow.coflow = CoflowId::new(5);
        flow.attained = 9;
    });
    fixture.outcome.flows.edit(1, |flow| {
        *flow = FlowRecord {
            fct: Some(Span(2_500)),
            fct_acked: Some(Span(2_600)),
            class: ClassSpan { asked: 1, given: 2, first: 3, last: 4 },
            moves: 5,
            retransmits: 6,
            timeouts: 7,
            missing: 8,
            ..FlowRecord::default()
        };
    });
    // Flow 1 starts at 10 ps and has 1,001 B; alone it takes 1,000 ps.
    let expected = "flow=1 group=all src=0 dst=1 bytes=1001 start_ps=10 fct_ps=2500 fct_acked_ps=2600 bare_fct_ps=1000 \
                    slowdown=2.5 class_asked=1 class_given=2 moves=5 class_first=3 class_last=4 deadline_ps=9000 met=true \
                    retransmits=6 timeouts=7 cos=BE theta_bps=0 w=1 missing_bytes=8 measured=true attained_bytes=9 \
                    coflow=5";
    assert_eq!(row(&fixture, Table::Flows, 1).join(" "), expected);
}

#[test]
fn columns_of_ports_have_the_fields_of_their_names() {
    let mut fixture = MadeUp::with_flows(1);
    fixture.outcome.ports = vec![PortClassRecord {
        link: LinkId(2),
        class: 1,
        queue: 3,
        packets: 4,
        bytes: 500,
        dropped: 6,
        marked: 7,
        lost: 8,
        inversions: 9,
        waited: 10,
        trimmed: 11,
        expired: 12,
        paused: Span(13),
    }];
    let cells = row(&fixture, Table::Ports, 0);
    let expected = "link=2 class=1 queue=3 packets=4 bytes=500 dropped=6 marked=7 lost=8 inversions=9 \
                    waited_mean_ps=2.5 trimmed=11 expired=12 paused_ps=13";
    assert_eq!(cells[1..].join(" "), expected);
}

#[test]
fn a_coflow_adds_its_flows_and_lasts_from_the_first_start_to_the_last_end() {
    let mut fixture = MadeUp::with_flows(4);
    for flow in 0..3 {
        fixture.scenario.flows.edit(flow, |flow| flow.coflow = CoflowId::new(5));
    }
    // Starts at 0, 10 and 20 ps.
    for (flow, fct) in [2_500, 2_600, 2_400].into_iter().enumerate() {
        fixture.outcome.flows.edit(flow, |record| record.fct = Some(Span(fct)));
    }
    let rows = Rows::new(fixture.source(), &fixture.outcome);
    let [coflow] = rows.coflows() else { panic!("{:?}", rows.coflows()) };
    assert_eq!((coflow.coflow, coflow.flows, coflow.bytes), (5, 3, Some(1_000 + 1_001 + 1_002)));
    assert_eq!((coflow.start_ps, coflow.cct_ps), (0, Some(10 + 2_600)));
}

#[test]
fn deadlines_include_their_instant() {
    let mut fixture = MadeUp::with_flows(1);
    fixture.scenario.flows.edit(0, |flow| (flow.start, flow.deadline) = (Time(100), Some(Time(500))));
    let spec = fixture.scenario.flows.at(0);
    let met = |fct: Option<u64>, end: u64| {
        met_deadline(&spec, &FlowRecord { fct: fct.map(Span), ..FlowRecord::default() }, Time(end))
    };
    assert_eq!([met(Some(400), 900), met(Some(401), 900)], [Some(true), Some(false)]);
    assert_eq!([met(None, 499), met(None, 500)], [None, Some(false)]);
}

#[test]
fn a_difference_beyond_the_first_batch_has_its_own_row() {
    let base = MadeUp::with_flows(70_000);
    let mut other = base.clone();
    other.outcome.flows.edit(69_000, |flow| flow.retransmits = 40);
    let [a, b] = [&base, &other].map(|fixture| Rows::new(fixture.source(), &fixture.outcome));
    let found = first_difference(&a, &b).unwrap();
    assert_eq!((found.row, found.column.as_str()), (69_000, "retransmits"));
}
