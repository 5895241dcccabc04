//! What changes, a pool or a class, and how claims say by which version of it they were made.

use crate::objects::{Custom, Foreseen, object_of};
use joiner_api::labels::{
    EC2_NODE_CLASS, EC2_NODE_CLASS_HASH, EC2_NODE_CLASS_HASH_VERSION, NODEPOOL, NODEPOOL_HASH,
    NODEPOOL_HASH_VERSION,
};
use joiner_api::{EC2NodeClass, NodePool};
use joiner_core::snapshot::{Claim, PoolHash};
use joiner_map::drift;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::Diagnostics;

/// The kinds whose change replaces nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// A NodePool.
    Pool,
    /// An EC2NodeClass.
    Class,
}

impl Subject {
    /// `apiVersion` and `kind` of the objects.
    pub(super) fn kind(self) -> (&'static str, &'static str) {
        match self {
            Self::Pool => ("karpenter.sh/v1", "NodePool"),
            Self::Class => ("karpenter.k8s.aws/v1", "EC2NodeClass"),
        }
    }

    /// The label of claims that names theirs.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Pool => NODEPOOL,
            Self::Class => EC2_NODE_CLASS,
        }
    }

    /// The annotations, of the object and of its claims, for the hash of what nodes are made from and the version of its rule.
    pub(super) fn annotations(self) -> [&'static str; 2] {
        match self {
            Self::Pool => [NODEPOOL_HASH, NODEPOOL_HASH_VERSION],
            Self::Class => [EC2_NODE_CLASS_HASH, EC2_NODE_CLASS_HASH_VERSION],
        }
    }

    /// The part of a spec that nodes are made from.
    fn part(self, spec: &Json) -> &Json {
        match self {
            Self::Pool => &spec["template"],
            Self::Class => spec,
        }
    }

    /// The hash of an object by our rule, whatever its annotations say.
    pub(super) fn hash(self, object: &Json) -> Option<PoolHash> {
        Some(match self {
            Self::Pool => drift::pool_hash(&typed::<NodePool>(object)?),
            Self::Class => drift::class(&typed::<EC2NodeClass>(object)?).hash,
        })
    }

    /// The hash that the controller has noted on an object.
    fn noted(self, object: &Json) -> Option<PoolHash> {
        let [value, version] = self
            .annotations()
            .map(|key| object["metadata"]["annotations"][key].as_str());
        Some(PoolHash {
            value: value?.into(),
            version: version?.into(),
        })
    }

    /// Writes our hash of the object into its annotations, as our controller will.
    pub(super) fn note(self, object: &mut Json) {
        if let Some(hash) = self.hash(object) {
            let [value, version] = self.annotations();
            object["metadata"]["annotations"][value] = json!(&*hash.value);
            object["metadata"]["annotations"][version] = json!(&*hash.version);
        }
    }
}

/// An object as the API's type.
pub(super) fn typed<T: serde::de::DeserializeOwned>(object: &Json) -> Option<T> {
    serde_json::from_value(object.clone()).ok()
}

/// Another controller's hashes in our words: its rule makes another hash of the same spec, and so none of ours can be compared with
/// what it has noted on claims.
pub(super) struct Translation {
    subject: Subject,
    noted: PoolHash,
    ours: PoolHash,
}

impl Translation {
    /// By the live object, when another controller than ours has noted a hash on it.
    pub(super) fn of(subject: Subject, live: &Json) -> Option<Self> {
        let (noted, ours) = (subject.noted(live)?, subject.hash(live)?);
        (noted.version != ours.version).then_some(Self { subject, noted, ours })
    }

    /// Lets a claim that was made by the spec that the live object has say so by our hash; one that was made by another spec gets a
    /// hash that no spec has.
    pub(super) fn translate(&self, claim: &mut Arc<Claim>) {
        let [value, version] = self.subject.annotations();
        if claim.annotations.get(version) != Some(&self.noted.version) {
            return;
        }
        let translated = match claim.annotations.get(value) {
            Some(made_by) if *made_by == self.noted.value => self.ours.value.clone(),
            Some(made_by) => format!("{}/{made_by}", self.noted.version).into(),
            None => return,
        };
        let claim = Arc::make_mut(claim);
        claim.annotations.insert(value.into(), translated);
        claim
            .annotations
            .insert(version.into(), self.ours.version.clone());
    }
}

/// Fields of a class that are resolved in the account.
pub(super) const RESOLVED: [&str; 4] = [
    "amiSelectorTerms",
    "subnetSelectorTerms",
    "securityGroupSelectorTerms",
    "capacityReservationSelectorTerms",
];

/// Which nodes a change replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of the pool or the class.
    All,
    /// Those that do not meet what is asked for now.
    Some,
    /// None.
    None,
}

impl Reach {
    /// In a word.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Some => "some",
            Self::None => "none",
        }
    }
}

/// A change of one object.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// What it is.
    pub subject: Subject,
    /// Its name.
    pub name: String,
    /// Its spec as the state has it.
    pub prior: Json,
    /// Its spec as it is planned, without what is unknown.
    pub planned: Json,
    /// Whether all is known that nodes are made from.
    pub is_known: bool,
}

impl Change {
    /// The change from one model to another.
    pub(super) fn of<M: Custom>(subject: Subject, prior: &M, planned: &M) -> Result<Self, Diagnostics> {
        let after = Foreseen::of(planned)?;
        let part: &[&str] = match subject {
            Subject::Pool => &["spec", "template"],
            Subject::Class => &["spec"],
        };
        Ok(Self {
            subject,
            name: planned.common().name().to_owned(),
            prior: object_of(prior)?.json["spec"].clone(),
            is_known: !after.is_unknown(part),
            planned: after.json["spec"].clone(),
        })
    }

    /// Whether it can make nodes outdated.
    pub(super) fn touches_nodes(&self) -> bool {
        !self.is_known || self.subject.part(&self.prior) != self.subject.part(&self.planned)
    }

    /// The live object with the change made.
    pub(super) fn made_on(&self, live: &Json) -> Json {
        let mut object = live.clone();
        object["spec"] = super::merge::merged(&live["spec"], &self.prior, &self.planned);
        self.subject.note(&mut object);
        object
    }

    /// Which nodes it replaces, as far as the change alone tells.
    pub(super) fn reach(&self) -> Reach {
        let hash = |spec: &Json| {
            let (api_version, kind) = self.subject.kind();
            self.subject.hash(&json!({
                "apiVersion": api_version, "kind": kind, "metadata": { "name": self.name }, "spec": spec,
            }))
        };
        if hash(&self.prior) != hash(&self.planned) {
            return Reach::All;
        }
        let compared: &[&str] = match self.subject {
            Subject::Pool => &["requirements"],
            Subject::Class => &RESOLVED,
        };
        let (prior, planned) = match self.subject {
            Subject::Pool => (&self.prior["template"]["spec"], &self.planned["template"]["spec"]),
            Subject::Class => (&self.prior, &self.planned),
        };
        match compared.iter().any(|field| prior[*field] != planned[*field]) {
            true => Reach::Some,
            false => Reach::None,
        }
    }

    /// Whether one of these fields of the spec changes.
    pub(super) fn changes(&self, fields: &[&str]) -> bool {
        fields
            .iter()
            .any(|field| self.prior[*field] != self.planned[*field])
    }
}
