//! The interface of an app: keys of a file that generate flows.

use priolane_core::ids::Class;
use priolane_source::{InputError, Reader, Sources};

use super::context::WorkloadContext;
use super::destinations::DestinationScope;
use super::error::AppError;
use super::load::Load;
use super::open_loop::OpenLoop;
use super::strata::SizeDraw;
use super::traffic::Traffic;

/// An application that starts flows.
pub trait Application {
    /// Reads the files that its keys name; `keys` is the table of the group.
    ///
    /// # Errors
    /// Returns what is wrong with a file, or that it does not exist.
    fn open(&mut self, _keys: &mut Reader<'_>, _files: &mut Sources) -> Result<(), InputError> {
        Ok(())
    }

    /// Generates its flows in the context `site`, in order of generation, with indices as ids.
    ///
    /// # Errors
    /// Fails if app and context do not fit, or if the list would be too long.
    fn traffic(&self, site: &WorkloadContext<'_>) -> Result<Traffic, AppError>;

    /// Returns its long-run offered load and the destinations of a host, if it states a load.
    fn load(&self) -> Option<(Load, DestinationScope)> {
        self.open_loop().map(|open_loop| (open_loop.load, open_loop.reach))
    }

    /// Returns its flow sizes and load, if it states both.
    fn open_loop(&self) -> Option<&OpenLoop> {
        None
    }

    /// Returns how it draws the sizes of its flows, if it has a choice.
    fn size_draw(&self) -> Option<SizeDraw> {
        None
    }

    /// Returns true if it starts flows until the end of the run.
    fn runs_until_end(&self) -> bool {
        false
    }

    /// Returns true if it can begin with the flows that are under way in its steady state.
    fn starts_warm(&self) -> bool {
        false
    }

    /// Returns true if it sends at all.
    fn sends(&self) -> bool {
        true
    }

    /// Returns true if its flows start when others have ended, so that start times are not known before the run.
    fn is_closed_loop(&self) -> bool {
        false
    }

    /// Returns true if its flows or computations wait for others without an end by which they never start, in a group of
    /// `_hosts` hosts. A list tells so by its rows.
    fn is_job(&self, _hosts: usize) -> bool {
        false
    }

    /// Returns true if its flows are recorded or listed.
    fn is_replay(&self) -> bool {
        false
    }

    /// Returns the optional columns of its flows, if they are those of a list.
    fn listed(&self) -> Option<Listing> {
        None
    }

    /// Returns true if some of its flows share connections.
    fn shares_connections(&self) -> bool {
        false
    }

    /// Returns true if it states paths of flows.
    fn states_paths(&self) -> bool {
        false
    }

    /// Returns the key that states the path of [`super::StatedPath::place`] in a run of `seed`, and the location
    /// within it.
    fn path_place(&self, _place: usize, _seed: u64) -> (&'static str, String) {
        ("", String::new())
    }

    /// Returns warnings about how its flows differ from its keys and files in a group of `_hosts` hosts.
    ///
    /// # Errors
    /// Returns the errors of its files.
    fn notes(&self, _hosts: u32) -> Result<Vec<String>, InputError> {
        Ok(Vec::new())
    }
}

/// The optional columns of a flow list.
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
    /// No flow has a deadline.
    None,
    /// Flows may have deadlines.
    Some,
}

/// The number of lists that an app reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// The same list for all seeds.
    One,
    /// A list for each seed.
    BySeed,
}
