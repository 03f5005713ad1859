//! Finds cycles and upward imports in an import graph.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The first import of one file by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Index of the importing file in [`Graph::files`].
    pub from: usize,
    /// Index of the file that defines the imported item.
    pub to: usize,
    /// Line of the import, from 1.
    pub line: usize,
    /// The path as written in the source.
    pub name: String,
}

/// The import graph of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Files, relative to the folder of crates.
    pub files: Vec<String>,
    /// The edges, at most one for each ordered pair of files.
    pub arrows: Vec<Arrow>,
}

impl Graph {
    /// Returns the strongly connected components of two or more files, in order of names.
    pub fn components(&self) -> Vec<BTreeSet<&str>> {
        let of = self.by_file();
        let reach: Vec<Vec<bool>> = (0..self.files.len()).map(|file| reached(&of, file)).collect();
        let mut found: Vec<BTreeSet<&str>> = Vec::new();
        for (a, from_a) in reach.iter().enumerate() {
            let both: BTreeSet<&str> = (0..self.files.len())
                .filter(|&b| from_a[b] && reach[b][a])
                .map(|b| self.files[b].as_str())
                .collect();
            if both.len() > 1 && !found.contains(&both) {
                found.push(both);
            }
        }
        found.sort();
        found
    }

    /// Groups the edges by importing file.
    fn by_file(&self) -> Vec<Vec<&Arrow>> {
        let mut of = vec![Vec::new(); self.files.len()];
        self.arrows.iter().for_each(|arrow| of[arrow.from].push(arrow));
        of
    }

    /// Formats a shortest cycle through one of `files`, one line per import.
    pub fn circle(&self, files: &BTreeSet<&str>) -> String {
        let starts = (0..self.files.len()).filter(|&file| files.contains(self.files[file].as_str()));
        let of = self.by_file();
        let shortest = starts.filter_map(|file| circle_through(&of, file)).min_by_key(Vec::len);
        shortest.unwrap_or_default().into_iter().map(|arrow| self.show(arrow)).collect::<Vec<_>>().join("\n")
    }

    /// Formats an edge as `FILE:LINE imports PATH of FILE`.
    pub fn show(&self, arrow: &Arrow) -> String {
        let Arrow { from, to, line, name } = arrow;
        format!("{}:{line} imports {name} of {}", self.files[*from], self.files[*to])
    }

    /// Returns the imports from a lower layer to a higher one.
    ///
    /// `layers` is ordered from low to high; each layer is a list of path prefixes, and the longest matching prefix
    /// determines the layer of a file. Files of one layer may import each other.
    ///
    /// # Errors
    /// Returns the files that match no layer.
    pub fn upward(&self, layers: &[&[&str]]) -> Result<Vec<&Arrow>, Vec<&str>> {
        let layer = |file: &str| {
            let fits = |prefix: &&&str| file.starts_with(**prefix);
            let of = |(layer, prefixes): (usize, &&[&str])| {
                prefixes.iter().filter(fits).map(|prefix| prefix.len()).max().map(|length| (length, layer))
            };
            layers.iter().enumerate().filter_map(of).max().map(|(_, layer)| layer)
        };
        let of: Vec<Option<usize>> = self.files.iter().map(|file| layer(file)).collect();
        let lost: Vec<&str> =
            self.files.iter().zip(&of).filter(|(_, l)| l.is_none()).map(|(f, _)| f.as_str()).collect();
        if !lost.is_empty() {
            return Err(lost);
        }
        Ok(self.arrows.iter().filter(|arrow| of[arrow.from] < of[arrow.to]).collect())
    }
}

/// Marks the files that `start` imports, directly or indirectly.
fn reached(of: &[Vec<&Arrow>], start: usize) -> Vec<bool> {
    let mut reached = vec![false; of.len()];
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        for arrow in &of[file] {
            if !std::mem::replace(&mut reached[arrow.to], true) {
                open.push(arrow.to);
            }
        }
    }
    reached
}

/// Finds a shortest cycle through `start`.
fn circle_through<'g>(of: &[Vec<&'g Arrow>], start: usize) -> Option<Vec<&'g Arrow>> {
    let mut by: BTreeMap<usize, &Arrow> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(file) = open.pop_front() {
        for arrow in &of[file] {
            by.entry(arrow.to).or_insert_with(|| {
                open.push_back(arrow.to);
                arrow
            });
        }
    }
    let mut circle = vec![*by.get(&start)?];
    while circle[circle.len() - 1].from != start {
        circle.push(by[&circle[circle.len() - 1].from]);
    }
    circle.reverse();
    Some(circle)
}
