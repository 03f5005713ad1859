//! Testbeds in the namespaces of this machine: up, in use, down, and nothing left. Skipped with the reason where the machine
//! cannot.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "real testbeds depend on the clock")]

mod admission;
mod endless;
mod kernel_tokens;
mod lifecycle;
mod machines;
mod made;
mod runs;
mod user_switch;
