//! Nodes that are there: of the cluster's pools and types, with their daemons and with pods of the same workloads.

use serde_json::{Map, Value, json};

use super::Plan;
use super::daemons;
use super::pools::{POOLS, Sketch};
use super::workloads::Workload;
use crate::draw::Draw;
use crate::generate::ec2::{Fact, ZONES, facts};
use crate::objects::{CAPACITY_TYPE, Machine, ZONE, machine, running};

/// Cores of the largest node that is there, so that many nodes are many machines.
const LARGEST: u64 = 16;

pub(super) fn all(plan: Plan, workloads: &[Workload]) -> Vec<Value> {
    let mut draw = Draw::new(plan.seed, "existing");
    let facts: Vec<Fact> = facts()
        .into_iter()
        .filter(|it| (2..=LARGEST).contains(&it.cpus))
        .collect();
    let mut objects = Vec::new();
    for index in 0..plan.nodes {
        let sketch = draw.pick(&POOLS);
        let suits = |it: &&Fact| {
            sketch.categories.contains(&it.category()) && sketch.architectures.contains(&it.arch)
        };
        let fitting: Vec<&Fact> = facts.iter().filter(suits).collect();
        let fact = *draw.pick(&fitting);
        objects.extend(node(plan, index, sketch, fact, workloads, &mut draw));
    }
    objects
}

fn node(
    plan: Plan,
    index: usize,
    sketch: &Sketch,
    fact: &Fact,
    workloads: &[Workload],
    draw: &mut Draw,
) -> Vec<Value> {
    let name = format!("node-{index}");
    let mut labels: Map<String, Value> = fact
        .labels()
        .into_iter()
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect();
    labels.insert(ZONE.into(), json!(draw.pick(&ZONES)));
    labels.insert(
        CAPACITY_TYPE.into(),
        json!(draw.pick(sketch.capacity_types(plan.buying))),
    );
    if let Some(value) = sketch.dedicated {
        labels.insert("dedicated".into(), json!(value));
    }
    let mut objects = machine(&Machine {
        name: name.clone(),
        pool: Some(sketch.name.into()),
        labels,
        taints: sketch.taints(),
        capacity: fact.capacity(),
        allocatable: fact.allocatable(),
    });
    let (daemons, cores, mibs) = daemons::on_node(&name, fact.arch, sketch.dedicated);
    objects.extend(daemons);
    let (milli, bytes, _) = fact.room();
    // Between a half and nearly all of what is left is taken.
    let share = u64::try_from(draw.between(50, 95)).unwrap_or(50);
    let mut room = (
        milli.saturating_sub(cores) * share / 100,
        (bytes >> 20).saturating_sub(mibs) * share / 100,
    );
    for number in 0..draw.between(2, 10) {
        let fits = |it: &&Workload| {
            it.dedicated == sketch.dedicated
                && it.arch.is_none_or(|arch| arch == fact.arch)
                && !it.stands_apart()
                && it.milli <= room.0
                && it.mib <= room.1
        };
        let fitting: Vec<&Workload> = workloads.iter().filter(fits).collect();
        if fitting.is_empty() {
            break;
        }
        let workload = *draw.pick(&fitting);
        room = (room.0 - workload.milli, room.1 - workload.mib);
        objects.push(running(
            workload.namespace,
            &format!("{}-on-{index}-{number}", workload.name),
            &workload.labels(),
            workload.owner(),
            workload.spec(),
            &name,
        ));
    }
    objects
}
