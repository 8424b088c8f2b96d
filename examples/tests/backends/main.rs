//! What only these databases can do to the stores on redb and fjall: not keep what was written, and not open.

mod crash;
mod opening;
mod purging;
mod support;
