//! The name of a file in its folder.

use std::fs;
use std::io;
use std::path::Path;

/// Waits until the name of a file or folder that may just have been created is on the disk. Without it a loss of power
/// can take the file away whose contents were synced.
///
/// A folder can be opened, and so be synced, on Unix only.
pub(super) fn sync_name(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match fs::canonicalize(path)?.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
