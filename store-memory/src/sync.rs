//! The lock and the atomics that threads share the records by.
//!
//! Under `cfg(shuttle)` they are shuttle's, which decides at each of them which thread goes on: the tests in
//! `tests/schedules` run the store under one order of its threads after the other. Whatever else in this crate is to be
//! seen by several threads must come from here too, or those tests look past it.

#[cfg(not(shuttle))]
pub(crate) use std::sync::atomic::AtomicUsize;

#[cfg(not(shuttle))]
pub(crate) use parking_lot::Mutex;
#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::AtomicUsize;

/// Shuttle's mutex with the signatures of the real one, which knows no poison.
#[cfg(shuttle)]
#[derive(Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

#[cfg(shuttle)]
impl<T> Mutex<T> {
    pub(crate) fn lock(&self) -> shuttle::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
