//! Runs on disk: their tables, records, digests and bills.

mod bills;
mod columns;
mod packs;
mod recounted;
mod runs;
