//! The compiled programs, started and spoken to as somebody would who tries them.

mod charges;
mod client;
mod command_line;
mod demo;
mod readme;
mod refusals;
mod server;
mod shutdown;
mod trouble;
