//! Snapshots: what `kubectl get ... -o json` would give, and the catalogue that goes with them.

pub mod ec2;
pub mod fake;
pub mod random;
pub mod realistic;
pub mod upstream;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// A snapshot and what can be bought for it.
#[derive(Clone, Debug)]
pub struct Set {
    /// Kubernetes objects, in any order.
    pub objects: Vec<Value>,
    /// A document of kind InstanceTypeCatalog.
    pub catalogue: Value,
}

/// Where a set was written to.
#[derive(Clone, Debug)]
pub struct Files {
    /// The objects, as one List.
    pub snapshot: PathBuf,
    /// The catalogue.
    pub catalogue: PathBuf,
}

impl Set {
    /// Writes `NAME.snapshot.json` and `NAME.catalogue.json`.
    pub fn write(&self, folder: &Path, name: &str) -> Result<Files> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let files = Files {
            snapshot: folder.join(format!("{name}.snapshot.json")),
            catalogue: folder.join(format!("{name}.catalogue.json")),
        };
        write_json(&files.snapshot, &list(&self.objects))?;
        write_json(&files.catalogue, &self.catalogue)?;
        Ok(files)
    }

    /// Writes objects and catalogue into one file, as the peer's `--each` wants it.
    pub fn write_one(&self, file: &Path) -> Result<()> {
        let mut all = self.objects.clone();
        all.push(self.catalogue.clone());
        write_json(file, &list(&all))
    }

    /// Reads what [`Set::write_one`] wrote.
    pub fn read_one(file: &Path) -> Result<Set> {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut document: Value =
            serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", file.display()))?;
        let items = document["items"]
            .as_array_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        let (mut catalogues, objects): (Vec<Value>, Vec<Value>) = items
            .into_iter()
            .partition(|item| item["kind"] == "InstanceTypeCatalog");
        let catalogue = catalogues
            .pop()
            .with_context(|| format!("{} holds no InstanceTypeCatalog", file.display()))?;
        Ok(Set { objects, catalogue })
    }

    /// How many objects of a kind there are.
    pub fn count(&self, kind: &str) -> usize {
        self.objects
            .iter()
            .filter(|object| object["kind"] == kind)
            .count()
    }
}

/// A `v1/List`.
pub fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn write_json(file: &Path, value: &Value) -> Result<()> {
    let open = fs::File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
    let mut writer = BufWriter::new(open);
    serde_json::to_writer(&mut writer, value)?;
    writer.write_all(b"\n")?;
    writer
        .flush()
        .with_context(|| format!("cannot write {}", file.display()))
}

/// A document of kind InstanceTypeCatalog.
pub fn catalogue(well_known: &[&str], types: Vec<Value>) -> Value {
    json!({
        "apiVersion": "joiner.dev/v1alpha1",
        "kind": "InstanceTypeCatalog",
        "wellKnownLabels": well_known,
        "instanceTypes": types,
    })
}

/// One offering of a type.
pub fn offering(zone: &str, capacity_type: &str, price: f64) -> Value {
    json!({
        "available": true, "price": price,
        "requirements": [
            {"key": crate::objects::ZONE, "operator": "In", "values": [zone]},
            {"key": crate::objects::CAPACITY_TYPE, "operator": "In", "values": [capacity_type]},
        ],
    })
}
