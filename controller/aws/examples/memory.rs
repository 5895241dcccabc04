//! What EC2's facts and instance types weigh: reads them from the account of the environment (for a sandbox's:
//! `eval "$(joiner sandbox env)"`), makes the types of one class after the other, and prints the resident memory after each step.
//!
//!     cargo run --release -p joiner-aws --example memory

#![expect(clippy::print_stdout, reason = "an example for people")]

use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_aws::Aws;
use joiner_aws::catalogue::{Settings, instance_types_sharing, load_facts};
use joiner_aws::node_class::{NodeClass, for_catalogue};
use joiner_aws::unavailable::Unavailable;
use joiner_core::requirements::Interner;
use serde_json::json;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tell("start");
    let aws = Aws::connect(joiner_aws::Settings::default())?;
    let facts = load_facts(&aws).await?;
    tell(&format!("facts of {} types", facts.types.len()));
    let mut shared = Interner::default();
    let mut kept = Vec::new();
    // The third has fewer zones, so that its types differ.
    for (number, zones) in [(1, "abc"), (2, "abc"), (3, "ab")] {
        let class = class(&aws.region().await?, zones)?;
        let types = instance_types_sharing(
            &facts,
            &class,
            &Settings::default(),
            &Unavailable::default(),
            Timestamp::now(),
            &mut shared,
        );
        let count = types.len();
        kept.push(types);
        tell(&format!("{count} types of class {number}"));
    }
    Ok(())
}

fn class(region: &str, zones: &str) -> Result<NodeClass, Box<dyn std::error::Error>> {
    let subnet = |zone: char| json!({"id": format!("subnet-{zone}"), "zone": format!("{region}{zone}")});
    let object: EC2NodeClass = serde_json::from_value(json!({
        "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "r",
            "subnetSelectorTerms": [{"id": "subnet-a"}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
        },
        "status": {"subnets": zones.chars().map(subnet).collect::<Vec<_>>()},
    }))?;
    for_catalogue(&object).map_err(Into::into)
}

/// Prints the resident memory in KiB: all of it, and what is not read from files.
fn tell(step: &str) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map_or("?", str::trim).to_owned()
    };
    println!("{step:30} {:>12} {:>12}", field("VmRSS:"), field("RssAnon:"));
}
