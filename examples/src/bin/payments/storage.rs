//! Where keys and charges are kept.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use onceonly::KeyStore;
use onceonly_examples::charges::Charges;
use onceonly_memory::MemoryStore;
use onceonly_sqlite::SqliteStore;

use crate::command_line::StoreUrl;

/// Both halves of what is kept. They know nothing of each other: the charges stand for a provider's, elsewhere.
pub(crate) struct Storage {
    /// For Onceonly.
    pub(crate) keys: Arc<dyn KeyStore>,
    /// For the provider.
    pub(crate) charges: Charges,
}

/// Opens the store that `url` names.
///
/// # Errors
/// Whatever keeps the file from being used: rights, a lock, a table that is somebody else's or of a newer release.
pub(crate) fn open(url: &StoreUrl) -> Result<Storage, Box<dyn Error>> {
    match url {
        StoreUrl::Memory => {
            Ok(Storage { keys: Arc::new(MemoryStore::new()), charges: Charges::in_memory()? })
        }
        StoreUrl::Sqlite(path) => {
            let keys = SqliteStore::open(path)?;
            Ok(Storage { keys: Arc::new(keys), charges: Charges::open(path)? })
        }
    }
}

/// Says where that is, and what it means.
pub(crate) fn describe(url: &StoreUrl) -> String {
    match url {
        StoreUrl::Memory => {
            "keys and charges are kept in memory, for this process alone, and end with it".into()
        }
        StoreUrl::Sqlite(path) => format!("keys and charges are kept in the SQLite file {}", absolute(path)),
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).as_deref().unwrap_or(path).display().to_string()
}
