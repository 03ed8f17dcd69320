//! The laws, on the embedded store.

use tempfile::TempDir;
use tidegate_memory::sqlite::SqliteStore;
use tidegate_memory::store::Store;

use crate::laws::{Stores, laws};

struct Sqlite {
    folder: TempDir,
    made: u32,
}

impl Stores for Sqlite {
    fn ready() -> Option<Sqlite> {
        Some(Sqlite { folder: TempDir::new().unwrap(), made: 0 })
    }

    fn empty(&mut self) -> Box<dyn Store> {
        self.made += 1;
        let path = self.folder.path().join(format!("{}/memory.db", self.made));
        Box::new(SqliteStore::open(&path).unwrap().store)
    }
}

laws!(Sqlite);

// Not a law of the team's store, which knows a project by its name and has no folders.
laws!(Sqlite: one_folder_is_one_project);
