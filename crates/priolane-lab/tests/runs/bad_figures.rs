//! Metrics, panels and claims that refer to what is not there.

use crate::bad_input::{Folder, GOOD, expect, planned};

#[test]
fn metrics_of_thresholds_and_classes_of_groups_are_checked() {
    let panel = "[[panel]]\ntitle = \"x\"\nkind = \"bar\"\nmetric = \"class_threshold.1\"\n";
    planned(&format!("{GOOD}{panel}")).unwrap();
    for bad in ["0", "16", "all", "01"] {
        let text = format!("{GOOD}{}", panel.replace("threshold.1", &format!("threshold.{bad}")));
        let error = expect(&text, 20, "panel[0].metric");
        assert!(error.fix.contains("class_threshold.1"), "{error}");
    }
    planned(&format!("{GOOD}[metrics]\nclasses = {{ mine = {{ group = \"all\" }} }}\n")).unwrap();
    for (bounds, fits) in [
        ("below = \"1kB\", above = \"1MB\"", false),
        ("above = \"999B\", below = \"1000B\"", false),
        ("above = \"999B\", below = \"1001B\"", true),
        ("from = \"2kB\", to = \"1kB\"", false),
        ("from = \"1kB\", to = \"1kB\"", true),
        ("to = \"0B\"", false),
    ] {
        let text = format!("{GOOD}[metrics]\nclasses = {{ mine = {{ {bounds} }} }}\n");
        assert_eq!(planned(&text).is_ok(), fits, "{bounds}");
    }
    let unknown = format!("{GOOD}[metrics]\nclasses = {{ mine = {{ group = \"al\" }} }}\n");
    assert!(expect(&unknown, 18, "metrics.classes.mine.group").fix.contains("all"));
}

#[test]
fn keys_of_scatters_and_tables_are_theirs() {
    let sweep = "[sweep]\n\"group.all.load.value\" = [0.5, 0.6]\n";
    let with = |panel: &str| format!("{GOOD}{sweep}[[panel]]\ntitle = \"a\"\n{panel}");
    let pair = "metrics = [\"fct.all\", \"slowdown.all\"]\n";
    let at = "{ \"group.all.load.value\" = 0.6 }";
    planned(&with(&format!("kind = \"scatter\"\n{pair}y_at = {at}\nrays = [1.6]\n"))).unwrap();
    planned(&with(&format!("kind = \"table\"\n{pair}"))).unwrap();
    for (panel, key, what) in [
        (format!("kind = \"bar\"\n{pair}rays = [1.6]\n"), "panel[0].rays", "does not have this key"),
        (format!("kind = \"table\"\n{pair}x_at = {at}\n"), "panel[0].x_at", "does not have this key"),
        (format!("kind = \"table\"\n{pair}x = \"group.all.load.value\"\n"), "panel[0].x", "has no x"),
        (format!("kind = \"scatter\"\n{pair}rays = [0]\n"), "panel[0].rays", ""),
        ("kind = \"scatter\"\nmetric = \"fct.all\"\n".to_owned(), "panel[0]", "has 1 metrics"),
        (format!("kind = \"scatter\"\n{pair}y_at = {{ seeds = 1 }}\n"), "panel[0].y_at", "is not swept"),
    ] {
        let error = planned(&with(&panel)).unwrap_err();
        assert!(error.key.starts_with(key) && error.what.contains(what), "{error}");
    }
}

#[test]
fn figures_have_no_point_for_a_key_that_metrics_average_over() {
    let with = |averaged: &str, rest: &str| {
        let sweep = "[sweep]\n\"group.all.load.value\" = [0.5, 0.6]\n\"time.warmup\" = [\"1ms\", \"2ms\"]\n";
        format!("{GOOD}{sweep}[metrics]\naverage_over = [{averaged}]\n{rest}")
    };
    let load = "\"group.all.load.value\"";
    let panel = "[[panel]]\ntitle = \"a\"\nkind = \"line\"\nmetric = \"fct.all\"\n";
    planned(&with(load, &format!("{panel}x = \"time.warmup\"\n"))).unwrap();
    planned(&with(&format!("{load}, \"time.warmup\""), "")).unwrap();
    let claim = "[[claim]]\nsection = \"1\"\nsays = \"a\"\nbound = { of = \"fct.all.dctcp\", above = 1 }\n";
    for (averaged, rest, key, what) in [
        ("\"group.all.load\"", String::new(), "metrics.average_over[0]", "is not swept"),
        (load, format!("{panel}x = {load}\n"), "panel[0].x", "means over \"group.all.load.value\""),
        (load, format!("{claim}at = {{ {load} = 0.5 }}\n"), "claim[0].at", "means over"),
    ] {
        let error = planned(&with(averaged, &rest)).unwrap_err();
        assert!(error.key.starts_with(key) && error.what.contains(what), "{error}");
        assert!(error.line.is_some(), "{error}");
    }
}

#[test]
fn figures_and_claims_name_what_is_there() {
    let with = |text: &str| {
        format!(
            "{GOOD}[sweep]\n\"group.all.load.value\" = [0.5, 0.6]\n[metrics]\nbaseline = \"dctcp\"\n{text}"
        )
    };
    planned(&with(
        "[[panel]]\ntitle = \"a\"\nkind = \"line\"\nx = \"group.all.load.value\"\nmetric = \"fct.all\"\n",
    ))
    .unwrap();
    let panel = "[[panel]]\ntitle = \"a\"\nkind = \"line\"\n";
    expect(&with(&format!("{panel}x = \"group.all.load.valu\"\nmetric = \"fct.all\"\n")), 24, "panel[0].x");
    expect(
        &with(&format!("{panel}x = \"group.all.load.value\"\nmetric = \"fct.mice\"\n")),
        25,
        "panel[0].metric",
    );
    expect(&with(&format!("{panel}metric = \"fct.all\"\n")), 21, "panel[0].x");
    let claim = "[[claim]]\nsection = \"1\"\nsays = \"a\"\n";
    expect(
        &with(&format!("{claim}bound = {{ of = \"gain.all.pias\", above = 1 }}\n")),
        24,
        "claim[0].bound.of",
    );
    expect(
        &with(&format!("{claim}order = [\"speed.all.dctcp\", \"fct.all.dctcp\"]\n")),
        24,
        "claim[0].order[0]",
    );
    let twice = "order = [\"fct.all.dctcp\", \"fct.all.dctcp\"]\n";
    expect(&with(&format!("{claim}{twice}")), 24, "claim[0].order[1]");
    expect(&with(claim), 21, "claim[0]");
    let ours = format!("{claim}source = \"mine\"\norder = [\"fct.all.dctcp\", \"fct_p99.all.dctcp\"]\n");
    expect(&with(&ours), 24, "claim[0].source");
    // No paper is named, so that no claim is a paper's.
    let paper = expect(&with(&ours.replace("mine", "paper")), 24, "claim[0].source");
    assert!(paper.fix.contains("ours"), "{paper}");
    let none = "bound = { of = \"fct.all.dctcp\", above = 2, below = 1 }";
    expect(&with(&format!("{claim}{none}\n")), 24, "claim[0].bound");
    expect(&with(&format!("{claim}bound = {{ of = \"gain.all.dctcp\" }}\n")), 24, "claim[0].bound");
    for (numbers, key) in [
        ("values = [1], within = 0.1", "claim[0].agree.of"),
        ("of = \"fct.all.dctcp\", within = 0.1", "claim[0].agree.values"),
        ("of = \"fct.all.dctcp\", values = [], within = 0.1", "claim[0].agree.values"),
        ("of = \"fct.all.dctcp\", values = [0], within = 0.1", "claim[0].agree.values"),
        ("of = \"fct.all.dctcp\", values = [1]", "claim[0].agree.within"),
    ] {
        expect(&with(&format!("{claim}agree = {{ {numbers} }}\n")), 24, key);
    }
    let two_seeds =
        with(&format!("{claim}agree = {{ of = \"fct.all.dctcp\", values = [1], within = 0.1 }}\n"));
    let two_seeds = two_seeds.replacen("schemes =", "seeds = 2\nschemes =", 1);
    assert!(expect(&two_seeds, 25, "claim[0].agree.values").what.contains("not for seed 2"));
    let seventh = two_seeds.replacen("seeds = 2", "seeds = [1, 7]", 1);
    assert!(expect(&seventh, 25, "claim[0].agree.values").what.contains("not for seed 7"));
    let across = |of: &str| {
        with(&format!("{claim}ratio = {{ of = {of}, over = \"fct.all.dctcp\", paper = 2, within = 0.1 }}\n"))
    };
    let metric = "metric = \"fct.all.dctcp\"";
    planned(&across(&format!("{{ {metric}, at = {{ \"group.all.load.value\" = 0.6 }} }}"))).unwrap();
    let unswept = expect(
        &across(&format!("{{ {metric}, at = {{ \"group.all.load.valu\" = 0.6 }} }}")),
        24,
        "claim[0].ratio",
    );
    assert!(unswept.fix.contains("group.all.load.value"), "{unswept}");
    expect(&across(&format!("{{ {metric} }}")), 24, "claim[0].ratio.of.at");
    expect(&across("{ metric = \"fct.all.pias\", at = {} }"), 24, "claim[0].ratio.of.metric");
}

#[test]
fn a_class_of_several_groups_names_groups() {
    let with = |group: &str| format!("{GOOD}[metrics.classes]\nsome = {{ group = {group} }}\n");
    assert!(planned(&with("[\"all\", \"all\"]")).is_ok());
    assert!(expect(&with("[]"), 18, "metrics.classes.some.group").what.contains("list of groups is empty"));
    let wrong = expect(&with("[\"all\", \"al\"]"), 18, "metrics.classes.some.group[1]");
    assert!(wrong.fix.contains("\"all\""), "{wrong}");
}

#[test]
fn what_a_paper_printed_is_checked_with_the_experiment_and_changes_no_run() {
    let folder = Folder::new("published");
    let panel = |kind: &str| format!("{GOOD}[[panel]]\ntitle = \"t\"\nkind = \"{kind}\"\n");
    let named = "metrics = [\"fct.all\", \"fct_p99.all\"]\npublished = \"p.csv\"\n";
    folder.write("bare.toml", panel("bar") + "metric = \"fct.all\"\n");
    folder.write("bar.toml", panel("bar") + named).write("scatter.toml", panel("scatter") + named);
    for (file, says) in [("bar.toml", "p.csv"), ("scatter.toml", "scatter")] {
        let error = folder.plan(file).unwrap_err();
        assert_eq!((error.line, error.key.as_str()), (Some(21), "panel[0].published"), "{error}");
        assert!(error.what.contains(says), "{error}");
    }
    let write = |row: &str| folder.write("p.csv", format!("paper,figure,series,x,y,error,read\n{row}\n"));
    write("P,Fig. 1,dctcp,fct.all,0.001,0,text");
    let ids = |file| folder.plan(file).unwrap().runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids("bare.toml"), ids("bar.toml"));
    for (row, key) in [
        ("P,Fig. 1,nos2,fct.all,0.001,0,text", "series"),
        ("P,Fig. 1,dctcp,gain.all,0.001,0,text", "x"),
        ("P,Fig. 1,dctcp,,0.001,0,text", "x"),
    ] {
        write(row);
        let error = folder.plan("bar.toml").unwrap_err();
        assert_eq!((error.file.as_str(), error.line, error.key.as_str()), ("p.csv", Some(2), key), "{error}");
    }
}
