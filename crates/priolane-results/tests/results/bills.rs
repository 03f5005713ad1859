use priolane_core::endpoint::{Control, Weights};
use priolane_core::ids::FlowId;
use priolane_core::price::fbp::Prices;
use priolane_core::price::ledger::PricePlan;
use priolane_core::price::tariff::{Charge, Tariff};
use priolane_core::units::{Rate, Span, Time};
use priolane_results::bills::{BillRow, PayingGroup, Pricing, bills};
use priolane_sim::outcome::{FlowRecord, FlowSample};
use priolane_sim::scenario::ScheduledControl;
use priolane_testkit::made_up::MadeUp;

const SECOND: u64 = 1_000_000_000_000;
/// A gigabit.
const GBIT: f64 = 1e9;

/// Machines pay 1 a second, 0.6 a unit of weight and 2 a Gbit.
fn machines(charge: Charge) -> PricePlan {
    PricePlan::Vbp(Tariff { p0: 1.0, p1: 0.6, p2: 2.0 / GBIT, charge })
}

/// Machines pay 1 a second, flows 0.5, 0.3 a unit of weight and 1 a Gbit.
fn flows(charge: Charge) -> PricePlan {
    PricePlan::Fbp(Prices { upfront: 1.0, flow: Tariff { p0: 0.5, p1: 0.3, p2: 1.0 / GBIT, charge } })
}

fn pair(mbps: u64, w_milli: u32) -> Weights {
    Weights { theta: Rate::from_bps(mbps * 1_000_000), w_milli }
}

/// Flow 0 without end from 1 s on; flow 1 of 1 MB from 2 s to 5 s; the run ends at 10 s. Both from one host.
fn fixture() -> MadeUp {
    let mut fixture = MadeUp::with_flows(2);
    let starts = [SECOND, 2 * SECOND];
    fixture.scenario.flows.edit_all(|flow| {
        flow.start = Time(starts[flow.id.index()]);
        flow.group = 0;
        flow.src = priolane_core::ids::HostId(0);
    });
    fixture.scenario.flows.edit(0, |flow| flow.size = None);
    fixture.scenario.flows.edit(0, |flow| flow.weights = pair(0, 2_000));
    fixture.scenario.flows.edit(1, |flow| flow.size = Some(1_000_000));
    fixture.outcome.flows.edit(0, |flow| *flow = FlowRecord::default());
    fixture.outcome.flows.edit(1, |flow| flow.fct = Some(Span(3 * SECOND)));
    fixture.outcome.flows.edit(1, |flow| flow.fct_acked = Some(Span(3 * SECOND)));
    fixture.outcome.stopped_at = Time(10 * SECOND);
    let report = |s: u64| FlowSample { at: Time(s * SECOND), flow: FlowId(0), acked_bytes: s * 1_000 };
    fixture.outcome.flow_samples = (2..=9).map(report).collect();
    fixture
}

fn priced(fixture: &MadeUp, plan: PricePlan) -> Vec<BillRow<'_>> {
    let group = PayingGroup { plan, pair: pair(1_000, 3_000), hosts: vec![0, 1] };
    bills(&Pricing { groups: vec![group] }, &fixture.source(), &fixture.outcome)
}

fn near(row: &BillRow, expected: [f64; 3]) {
    let got = [row.base, row.weight, row.rate];
    assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{got:?} is not {expected:?}");
}

#[test]
fn machines_owe_for_the_whole_run_whether_they_send_or_not() {
    let fixture = fixture();
    let rows = priced(&fixture, machines(Charge::Reserved));
    // 10 s of 1 + 0.6 (3 - 1), and 10 Gbit reserved at 2 a Gbit.
    rows.iter().for_each(|row| near(row, [10.0, 12.0, 20.0]));
    assert_eq!(
        rows.iter().map(|row| (row.host, row.delivered_bytes)).collect::<Vec<_>>(),
        [(0, 1_009_000), (1, 0)]
    );
    // Sent: 8 Mbit of flow 1 and 72 kbit of flow 0 with the machine's minimum rate.
    let sent = priced(&fixture, machines(Charge::Sent));
    near(&sent[0], [10.0, 12.0, 8.072e-3 * 2.0]);
    near(&sent[1], [10.0, 12.0, 0.0]);
}

#[test]
fn flows_owe_while_they_are_more_than_best_effort() {
    let mut fixture = fixture();
    // From 4 s on a minimum rate of 500 Mbps, from 6 s on best effort.
    let at = |s: u64, theta: Option<Rate>, w_milli| ScheduledControl {
        at: Time(s * SECOND),
        flow: FlowId(0),
        control: Control::Weights { theta, w_milli },
    };
    fixture.scenario.controls = vec![at(4, Rate::from_bps(500_000_000), 2_000), at(6, None, 1_000)];
    let rows = priced(&fixture, flows(Charge::Reserved));
    assert_eq!(rows.iter().map(|row| row.flow).collect::<Vec<_>>(), [None, None, Some(0)]);
    // Upfront 10 s of P0. The flow: 5 s of P0s, 5 s of w - 1 = 1, 2 s of 500 Mbps.
    near(&rows[0], [10.0, 0.0, 0.0]);
    near(&rows[2], [2.5, 1.5, 1.0]);
    // Sent between the reports of 4 s and 6 s: 2 kB.
    let sent = priced(&fixture, flows(Charge::Sent));
    near(&sent[2], [2.5, 1.5, 16_000.0 / 1e9]);
}

/// Property 20 in bills: P_DS(2) / P_BE = 1.6 with the paper's P1.
#[test]
fn a_machine_of_weight_two_owes_the_papers_price() {
    let group =
        |w_milli| PayingGroup { plan: machines(Charge::Reserved), pair: pair(0, w_milli), hosts: vec![1] };
    let fixture = fixture();
    let total = |w_milli| {
        let pricing = Pricing { groups: vec![group(w_milli)] };
        bills(&pricing, &fixture.source(), &fixture.outcome).last().unwrap().total
    };
    assert!((total(2_000) / total(1_000) - 1.6).abs() < 1e-12);
}
