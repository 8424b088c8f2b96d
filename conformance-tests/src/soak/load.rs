//! A busy machine.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Two threads for each processor that do nothing but compute, until this is dropped.
pub(super) struct Load {
    enough: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(super) fn of_every_processor() -> Self {
        let enough = Arc::new(AtomicBool::new(false));
        let count = 2 * thread::available_parallelism().map_or(1, usize::from);
        let spin = |_| {
            let enough = Arc::clone(&enough);
            thread::spawn(move || {
                while !enough.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            })
        };
        let threads = (0..count).map(spin).collect();
        Self { enough, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It computes and cannot panic.
            let _ = thread.join();
        }
    }
}
