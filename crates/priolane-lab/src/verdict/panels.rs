//! Fills panels with the results of a plan's runs.

use serde_json::{Map, Value};

use super::claims::{as_map, lines};
use super::grid::{Grid, MissingValue};
use super::rules;
use crate::metrics::estimate::Estimate;
use crate::metrics::metric::Bins;
use crate::metrics::path::{Measure, MetricPath};
use crate::metrics::{ALL, SizeClass};
use crate::panels::{FlowValue, Panel, PanelInput, PanelReport, Values};
use priolane_results::flows::FlowRow;

/// Returns the data of all panels, and warnings.
pub(super) fn draw_all(grid: &Grid) -> (Vec<PanelReport>, Vec<String>) {
    let mut warnings = Vec::new();
    let mut panels = Vec::new();
    for panel in &grid.plan.experiment.panels {
        let mut report = PanelReport::empty(panel);
        if let Err(what) = fill(grid, panel, &mut report) {
            warnings.push(format!("panel \"{}\": {what}", panel.title));
        }
        panels.push(report);
    }
    (panels, warnings)
}

fn fill(grid: &Grid, panel: &Panel, report: &mut PanelReport) -> Result<(), String> {
    let measures: Vec<Measure> = panel.metrics.iter().map(|m| Measure::parse(m)).collect::<Result<_, _>>()?;
    let points = grid.points_at(&panel.at);
    if points.is_empty() {
        return Err("no point of the sweep matches its `at`".to_owned());
    }
    let schemes = panel.schemes.as_ref().unwrap_or(&grid.schemes);
    (panel.kind.fill)(&PanelInput { panel, measures, schemes, points, values: grid }, report)
}

impl Values for Grid<'_> {
    fn at(&self, point: usize) -> Map<String, Value> {
        as_map(&self.points[point])
    }

    fn lines(&self, points: &[usize], along: &str) -> Vec<(Map<String, Value>, Vec<usize>)> {
        let places = |points: Vec<(f64, usize)>| points.into_iter().map(|(_, point)| point).collect();
        let lines = lines(self, points, along).into_iter();
        lines.map(|line| (as_map(&line.fixed), places(line.points))).collect()
    }

    fn moved(&self, point: usize, keys: &Map<String, Value>) -> Option<usize> {
        Grid::moved(self, point, keys)
    }

    fn mean(&self, path: &MetricPath, point: usize) -> Estimate {
        let metric = path.measure.metric;
        metric.estimate_of(&rules::values(&self.by_seed(path, point).0), self.nature(metric))
    }

    fn over_time(&self, path: &MetricPath, point: usize) -> Result<Vec<Bins>, String> {
        Grid::over_time(self, path, point).map_err(|gap| match gap {
            MissingValue::Run(what) | MissingValue::Value(what) => what,
        })
    }

    fn flows(
        &self,
        path: &MetricPath,
        point: usize,
        value: fn(&FlowRow<'_>) -> Option<f64>,
    ) -> Result<Vec<Vec<FlowValue>>, String> {
        let name = &path.measure.class;
        let known = self.classes().iter().find(|class| class.name == *name).cloned();
        let class = known.or_else(|| (name == ALL).then(SizeClass::all));
        let class = class.ok_or_else(|| format!("`{name}` is not a size class"))?;
        let value = |flow: &FlowRow| {
            let value = value(flow).filter(|_| class.counts_row(flow))?;
            Some(FlowValue { bytes: flow.bytes?, value })
        };
        // The flows of all runs of a seed.
        let of_seed = |&seed: &u64| {
            let mut values = Vec::new();
            for record in self.records_of(point, &path.scheme, seed).unwrap_or_default() {
                let of_run = Grid::flows(self, record, value);
                values.extend(of_run.map_err(|e| format!("run {}: {e}", record.run))?);
            }
            Ok(values)
        };
        self.seeds.iter().map(of_seed).collect()
    }
}
