//! What a user waits for, ours and upstream's controller in one run on equal sandboxes: `cargo bench -p joiner-tests`.
//!
//! Input: release binaries (`JOINER_BINARIES`) and upstream's controller, built once into the cache. Output: a table on
//! standard output, and the part between the markers of `docs/benchmarks.md` where `--write` is given. `--ours` leaves
//! upstream's controller out. Nothing here is a test: figures are reported, never asserted.

mod contender;
mod live;
mod measure;
mod provider;
mod report;

use std::time::Duration;

use anyhow::Result;

use contender::{Contender, Who};
use measure::{Figures, Instantly, median};

/// The pods of a burst.
const MANY: usize = 500;

/// How often each contender runs; the median counts.
const ROUNDS: usize = 3;

#[tokio::main]
async fn main() -> Result<()> {
    // Cargo passes --bench.
    let given = |option: &str| std::env::args().any(|argument| argument == option);
    let contenders: &[Who] = match given("--ours") {
        true => &[Who::Ours],
        false => &[Who::Ours, Who::Peer],
    };
    let mut table = Vec::new();
    for &who in contenders {
        let mut rounds = Vec::new();
        for round in 1..=ROUNDS {
            eprintln!("==> {who:?}, round {round} of {ROUNDS}");
            let figures = round_of(who).await?;
            eprintln!("{figures:#?}");
            rounds.push(figures);
        }
        table.push((who, median(&rounds)));
    }
    eprintln!("==> provider");
    let provider = provider::figures().await?;
    let live = live::figures().await?;
    let text = report::markdown(&table, &provider, ROUNDS) + &live::rows(&live);
    #[expect(clippy::print_stdout, reason = "the report is the output")]
    {
        println!("{text}");
    }
    if given("--write") {
        report::write(&text)?;
    }
    Ok(())
}

/// Every figure of one contender on a sandbox of its own.
async fn round_of(who: Who) -> Result<Figures> {
    let contender = Contender::start(who, Duration::ZERO).await?;
    let idle = contender.resident_after_rest().await?;
    let Instantly {
        to_fleet: one_to_fleet,
        all_running: one_running,
        ..
    } = measure::scale(&contender, "one", 1).await?;
    measure::settle(&contender).await?;
    let Instantly {
        to_fleet: fifty_to_fleet,
        all_running: fifty_running,
        nodes,
        price,
        ..
    } = measure::scale(&contender, "fifty", 50).await?;
    let warm_mib = contender.resident()?;
    measure::settle(&contender).await?;
    let many = measure::scale(&contender, "many", MANY).await?;
    let many_mib = contender.resident()?;
    measure::settle(&contender).await?;
    let many_at_once_price = measure::price_at_once(&contender, "at-once", MANY).await?;
    Ok(Figures {
        idle_mib: idle,
        one_to_fleet,
        one_running,
        fifty_to_fleet,
        fifty_running,
        fifty_nodes: nodes as f64,
        fifty_price: price,
        warm_mib,
        many_to_fleet: many.to_fleet,
        many_last_fleet: many.last_fleet,
        many_running: many.all_running,
        many_nodes: many.nodes as f64,
        many_price: many.price,
        many_at_once_price,
        many_mib,
    })
}
