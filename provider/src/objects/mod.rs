//! What NodePools and EC2NodeClasses have in common as resources: a typed model that becomes a Kubernetes object and back.

mod blockers;
mod live;
mod meaning;
mod names;
mod respell;
