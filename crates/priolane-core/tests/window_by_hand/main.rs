//! The window machine driven by hand: two endpoints and a link in memory.

mod acks;
mod connections;
mod control_class;
mod delay_based;
mod delayed;
mod exact;
mod levels;
mod life;
mod link;
mod ns3;
mod storm;
mod strays;
mod trims;
mod unfilled;
