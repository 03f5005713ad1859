//! Files as people write them: TOML to a tree that records the location of every value, and the error type of all
//! readers of input.

pub mod csv;
mod disk;
mod error;
mod keys;
mod merge;
mod new_directory;
mod own_file;
mod parse;
mod reader;
mod sources;
mod tree;

pub use priolane_core::quantity;

pub use disk::{FLOW_LIST_LIMIT, SIZE_LIMIT, open, read_text};
pub(crate) use error::MOST_SHOWN;
pub use error::{InputError, Mistakes};
pub use keys::KeyReader;
pub use merge::{Form, Merge, Own, Replace, SharedKeys};
pub use new_directory::NewDirectory;
pub use own_file::{create_temporary, open_existing_lock, open_lock};
pub use parse::{from_json, parse, parse_value};
pub use reader::{Field, Reader, nearest, nearest_value};
pub use sources::{Sources, of_seed};
pub use tree::{Node, Origin, Table, Value};
