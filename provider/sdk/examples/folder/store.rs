//! The "cloud": one JSON file a thing.

use std::io;
use std::path::PathBuf;

use serde_json::Value;
use tfplugin::Diagnostics;

pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    pub(crate) fn put(&self, name: &str, thing: &Value) -> Result<(), Diagnostics> {
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(self.file(name), thing.to_string()))
            .map_err(|error| failed("written", name, &error))
    }

    pub(crate) fn get(&self, name: &str) -> Result<Option<Value>, Diagnostics> {
        match std::fs::read(self.file(name)) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| failed("read", name, &error.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", name, &error)),
        }
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), Diagnostics> {
        match std::fs::remove_file(self.file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("removed", name, &error)),
            _ => Ok(()),
        }
    }
}

fn failed(what: &str, name: &str, error: &io::Error) -> Diagnostics {
    Diagnostics::error(
        "Thing not reachable",
        format!("The thing {name:?} could not be {what}: {error}."),
    )
}
