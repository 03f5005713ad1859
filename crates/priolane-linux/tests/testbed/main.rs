//! Tests of testbeds in the namespaces of this machine: made, used and removed without remains. They are skipped with
//! the reason where the machine lacks a capability.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "real testbeds depend on the clock")]

mod admission;
mod endless;
mod kernel_tokens;
mod lifecycle;
mod machines;
mod made;
mod runs;
mod user_switch;
