//! Deadlines as multiples of what flows require, and probabilities over time, from files.

use std::ops::ControlFlow;
use std::path::Path;

use priolane_core::units::{Span, Time};
use priolane_lab::execute::{Settings, execute};
use priolane_lab::plan::{self, Options, Plan};
use priolane_results::column::Row;
use priolane_results::rows::Table;
use priolane_results::series::SeriesRow;
use priolane_results::tables;
use priolane_source::InputError;
use priolane_testkit::one_switch;

const FILE: &str = one_switch!(
    r#"title = "Required"
schemes = ["firapam"]
time = { warmup = "0s", measure = "20ms" }
admission_every = "1ms"
"#,
    4,
    r#"[[group]]
name = "all"
hosts = "0-2"
to = "sink"
app = "poisson"
sizes = { csv = "facebook_hadoop", interpolation = "linear", scale_to_mean = "20kB" }
load = { of = "host", counts = "wire", value = 0.25 }
deadline = [{ share = 0.5, r_base = 1, over = 2 }, { share = 0.25, r_base = 2 }, { share = 0.25 }]
[[group]]
name = "sink"
hosts = "3"
app = "flows"
list = [{ src = 3, dst = 0, size = "1B", start = "0ns" }]
[metrics]
classes = { high = { asked = 0 }, small = { below = "10kB" } }
[scheme.firapam]
assign = { kind = "deadline_rank", fractions = [0.5, 0.25, 0.25] }
"#
);

fn planned(text: &str) -> Result<Plan, InputError> {
    plan::from_text("x.toml", text, Path::new("."), &Options::default())
}

fn refused(old: &str, new: &str, key: &str) -> InputError {
    assert!(FILE.contains(old), "{old}");
    let error = planned(&FILE.replacen(old, new, 1)).unwrap_err();
    assert!(error.key.starts_with(key), "{error}");
    assert!(error.line.is_some() && !error.fix.is_empty(), "{error}");
    error
}

#[test]
fn deadlines_are_multiples_of_r_base_over_what_is_asked_more() {
    let plan = planned(FILE).unwrap();
    let built = plan::build(&plan.runs[0]).unwrap();
    let found = plan::requirement_of(&plan.runs[0]).unwrap().unwrap();
    assert!(found.fits > Span::ZERO && found.fits <= found.shared, "{found:?}");
    let flows = &built.scenario.flows;
    let share = |within: Option<Span>| {
        let is = |f: &priolane_core::endpoint::FlowSpec| f.deadline.map(|d| d.since(f.start)) == within;
        flows.iter().filter(is).count() as f64 / flows.len() as f64
    };
    // Some 900 flows: 4 sigma are 0.07 and 0.06; halves and twofolds are whole but for a picosecond.
    assert!(flows.len() > 500, "{}", flows.len());
    assert!((share(Some(Span(found.fits.0 / 2))) - 0.5).abs() < 0.07);
    assert!((share(Some(Span(found.fits.0 * 2))) - 0.25).abs() < 0.06);
    assert!((share(None) - 0.25).abs() < 0.06);
    // What is asked more than fits changes deadlines, and not what fits.
    let more = planned(&FILE.replace("over = 2", "over = 8")).unwrap();
    assert_eq!(plan::requirement_of(&more.runs[0]).unwrap(), Some(found));
    // A lower load requires less.
    let less = planned(&FILE.replace("value = 0.25", "value = 0.1")).unwrap();
    assert!(plan::requirement_of(&less.runs[0]).unwrap().unwrap().fits < found.fits);
    let stated = planned(
        &FILE.replace("r_base = 1, over = 2", "within = \"1ms\"").replace("r_base = 2", "within = \"2ms\""),
    );
    assert_eq!(plan::requirement_of(&stated.unwrap().runs[0]).unwrap(), None);
}

#[test]
fn a_merged_deadline_is_a_deadline_again() {
    let plan = planned(FILE).unwrap();
    let merged = &plan.runs[0].merged["group"][0]["deadline"];
    let text = "[{\"share\":0.5,\"r_base\":1.0,\"over\":2.0},{\"share\":0.25,\"r_base\":2.0,\"over\":1.0},{\"share\":0.25}]";
    assert_eq!(*merged, serde_json::from_str::<serde_json::Value>(text).unwrap());
}

#[test]
fn multiples_of_what_nobody_knows_are_refused() {
    let deadline = "group.all.deadline";
    refused("r_base = 2", "r_base = 0", deadline);
    refused("over = 2", "over = 0", deadline);
    refused("r_base = 2", "r_base = 2, within = \"1ms\"", deadline);
    refused("r_base = 2", "within = \"1ms\", over = 2", deadline);
    let endless = refused(
        "list = [{ src = 3, dst = 0, size = \"1B\", start = \"0ns\" }]",
        "list = [{ src = 3, dst = 0, size = \"endless\", start = \"0ns\" }]",
        deadline,
    );
    assert!(endless.what.contains("endless"), "{endless}");
}

#[test]
fn probabilities_over_time_are_in_the_table_and_by_class_in_the_record() {
    let plan = planned(FILE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { verify: true, ..Settings::default() };
    let go_on = &mut |_| ControlFlow::Continue(());
    let done = execute(&plan.runs[0], folder.path(), &settings, go_on).unwrap();
    let admission = done.record().admission.clone().unwrap();
    let over_time = admission.over_time.unwrap();
    let bins = Time(done.record().stopped_at_ps).0.div_ceil(1_000_000_000) as usize;
    assert!(over_time.classes.iter().all(|class| class.mean_p.len() == bins), "{over_time:?}");
    assert!((over_time.every_s - 1e-3).abs() < 1e-15);
    let kept: u64 = over_time.classes.iter().map(|class| class.keys).sum();
    assert_eq!(kept, admission.keys.count);
    let high = &over_time.classes[0];
    assert!(high.class == 0 && high.mean_p.iter().any(|&p| (p - 1.0).abs() > 0.05), "{high:?}");
    let mut last: std::collections::BTreeMap<String, (u64, f64)> = std::collections::BTreeMap::new();
    let dir = folder.path().join(&plan.runs[0].id);
    for batch in tables::read(&dir, Table::Series).unwrap() {
        let batch = batch.unwrap();
        let rows = SeriesRow::read(&batch).unwrap();
        for SeriesRow { t_ps: at, entity, value: p, .. } in rows.into_iter().filter(|r| r.metric == "p_admit")
        {
            assert!(at % 1_000_000_000 == 0 && entity.starts_with('h') && (0.1..=1.9).contains(&p));
            let earlier = last.insert(entity.to_owned(), (at, p));
            assert!(earlier.is_none_or(|(before, _)| before < at), "in order of time");
        }
    }
    assert_eq!(last.len() as u64, kept);
    // Where each ended is where the class's mean ended.
    let of_high = last.iter().filter(|(entity, _)| entity.ends_with("/0")).map(|(_, (_, p))| p);
    let mean = of_high.sum::<f64>() / high.keys as f64;
    assert!((mean - high.mean_p.last().unwrap()).abs() < 1e-12, "{mean}");
}

#[test]
fn probabilities_are_asked_of_classes_that_flows_ask_for_where_they_are_kept() {
    let panel = |metric: &str| {
        format!(
            "[[panel]]\ntitle = \"P\"\nkind = \"line\"\nx = \"time\"\nmetric = \"{metric}\"\ny_label = \"p\"\n"
        )
    };
    planned(&format!("{FILE}{}", panel("p_admit.high"))).unwrap();
    let wrong = |text: &str, metric: &str| planned(&format!("{text}{}", panel(metric))).unwrap_err();
    assert!(wrong(FILE, "p_admit.small").fix.contains("asked"));
    let kept = FILE.replace("admission_every = \"1ms\"\n", "");
    assert!(wrong(&kept, "p_admit.high").fix.contains("admission_every"));
    let error = planned(&FILE.replace("admission_every = \"1ms\"", "admission_every = \"0s\"")).unwrap_err();
    assert_eq!(error.key, "admission_every");
}
