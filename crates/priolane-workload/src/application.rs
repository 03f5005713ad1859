//! What an app is: keys of a file that make flows.

use priolane_core::ids::Class;
use priolane_source::{InputError, Reader, Sources};

use super::context::WorkloadContext;
use super::destinations::DestinationScope;
use super::error::AppError;
use super::load::Load;
use super::open_loop::OpenLoop;
use super::traffic::Traffic;

/// What starts flows.
pub trait Application {
    /// Reads the files that its keys name; `keys` is the table of the group.
    ///
    /// # Errors
    /// What is wrong with a file, or that there is none.
    fn open(&mut self, _keys: &mut Reader<'_>, _files: &mut Sources) -> Result<(), InputError> {
        Ok(())
    }

    /// Its flows at `site` in the order in which they are made, with ids by their places.
    ///
    /// # Errors
    /// Where app and site do not fit, or the list would be too long.
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError>;

    /// The load that it offers on the long run and whom a host sends to, if it states a load.
    fn load(&self) -> Option<(Load, DestinationScope)> {
        self.open_loop().map(|open_loop| (open_loop.load, open_loop.reach))
    }

    /// Sizes of single flows and load, if it states both.
    fn open_loop(&self) -> Option<&OpenLoop> {
        None
    }

    /// Whether it starts flows for as long as it may.
    fn goes_on(&self) -> bool {
        false
    }

    /// Whether it sends at all.
    fn sends(&self) -> bool {
        true
    }

    /// Whether its flows start when others have ended, at instants that are not known before the run.
    fn is_closed_loop(&self) -> bool {
        false
    }

    /// Whether its flows are recorded or listed ones.
    fn is_replay(&self) -> bool {
        false
    }

    /// What its flows state of themselves, if they are those of a list.
    fn listed(&self) -> Option<Listing> {
        None
    }

    /// Whether it states paths of flows.
    fn states_paths(&self) -> bool {
        false
    }

    /// The key that states the path of [`super::StatedPath::place`] in a run of `seed`, and where there.
    fn path_place(&self, _place: usize, _seed: u64) -> (&'static str, String) {
        ("", String::new())
    }

    /// What its flows are not of what its keys and files say, in a group of so many hosts: for warnings.
    ///
    /// # Errors
    /// Those of its files.
    fn notes(&self, _hosts: u32) -> Result<Vec<String>, InputError> {
        Ok(Vec::new())
    }
}

/// What the flows of a list state of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The largest class.
    pub top_class: Class,
    /// Whether there may be deadlines.
    pub deadlines: Deadlines,
    /// Whether each seed has a list of its own.
    pub lists: Lists,
}

/// Whether flows of a list may have deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadlines {
    /// They have none.
    None,
    /// They may.
    Some,
}

/// How many lists an app reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// The same list for all seeds.
    One,
    /// A list for each seed.
    BySeed,
}
