//! EC2 as it was on one day: types, zones and prices that are built in, for answers without an account.
//!
//! Input: a region. Output: [`Facts`], as the account's own would be. Prices outside us-east-1 and all spot prices are
//! estimates; `data/README.md` says how. The file is read when it is asked for.

mod regions;

use super::facts::{Accelerator, Arch, Facts, Gpu, Network, Neuron, TypeFacts};
use super::prices::PriceBook;
use joiner_core::money::Price;
use joiner_core::requirements::Interner;
use joiner_core::text::Text;
use std::collections::{BTreeMap, BTreeSet};

const FILE: &str = include_str!("../../data/ec2.txt");

/// Spot prices in percent of on-demand ones.
const SPOT_PERCENT: u64 = 36;

/// Why there is no built-in catalogue for a region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("region {region:?} is not in the built-in catalogue; it has {}", .known.join(", "))]
pub struct UnknownRegion {
    /// What was asked for.
    pub region: String,
    /// What there is.
    pub known: Vec<&'static str>,
}

/// The day of the prices: `2026-07-06`.
pub fn date() -> &'static str {
    lines("date").next().unwrap_or_default()
}

/// The regions that are built in, sorted.
pub fn regions() -> Vec<&'static str> {
    lines("region")
        .filter_map(|rest| rest.split(' ').next())
        .collect()
}

/// EC2 in a region.
///
/// # Errors
/// The region is not built in.
pub fn facts(region: &str) -> Result<Facts, UnknownRegion> {
    let of_region = lines("region").find_map(|rest| {
        let mut words = rest.split(' ');
        (words.next() == Some(region)).then_some((words.next()?, words.next()?))
    });
    let Some((zones, offered)) = of_region else {
        return Err(UnknownRegion {
            region: region.to_owned(),
            known: regions(),
        });
    };
    let zones: Vec<(Text, Text)> = zones
        .split(',')
        .filter_map(|zone| zone.split_once(':'))
        .map(|(name, id)| (Text::from(name), Text::from(id)))
        .collect();
    let mut texts = Interner::default();
    let mut types = BTreeMap::new();
    let mut on_demand = BTreeMap::new();
    let mut spot: BTreeMap<Text, BTreeMap<Text, Price>> = BTreeMap::new();
    let bits = offered.as_bytes().chunks(2).map(|digits| {
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        u8::from_str_radix(digits, 16).unwrap_or_default()
    });
    for (row, bits) in lines("type").zip(bits).filter(|(_, bits)| *bits != 0) {
        let Some((mut kind, price)) = type_facts(row, &mut texts) else {
            continue;
        };
        let here = zones
            .iter()
            .enumerate()
            .filter(|(place, _)| bits & (1 << place) != 0);
        kind.zones = here.map(|(_, (name, _))| name.clone()).collect::<BTreeSet<_>>();
        let price = regions::scaled(price, region);
        on_demand.insert(kind.name.clone(), price);
        if kind.spot {
            let price = Price::from_micros(price.micros() * SPOT_PERCENT / 100);
            let zones = kind.zones.iter().map(|zone| (zone.clone(), price));
            spot.insert(kind.name.clone(), zones.collect());
        }
        types.insert(kind.name.clone(), kind);
    }
    Ok(Facts {
        region: region.into(),
        types,
        zones: zones.into_iter().collect(),
        prices: PriceBook::new(on_demand, spot),
    })
}

/// Every type of every region, in one zone whose name no region has: for questions that are asked for no region.
pub fn everywhere() -> Facts {
    let anywhere = Text::from(ANYWHERE);
    let mut texts = Interner::default();
    let mut types = BTreeMap::new();
    let mut on_demand = BTreeMap::new();
    let mut spot: BTreeMap<Text, BTreeMap<Text, Price>> = BTreeMap::new();
    for row in lines("type") {
        let Some((mut kind, price)) = type_facts(row, &mut texts) else {
            continue;
        };
        kind.zones = BTreeSet::from([anywhere.clone()]);
        on_demand.insert(kind.name.clone(), price);
        if kind.spot {
            spot.insert(kind.name.clone(), BTreeMap::from([(anywhere.clone(), price)]));
        }
        types.insert(kind.name.clone(), kind);
    }
    Facts {
        region: ANYWHERE.into(),
        types,
        zones: BTreeMap::from([(anywhere.clone(), anywhere)]),
        prices: PriceBook::new(on_demand, spot),
    }
}

/// The one region and zone of [`everywhere`].
const ANYWHERE: &str = "anywhere";

fn lines(kind: &'static str) -> impl Iterator<Item = &'static str> {
    FILE.lines()
        .filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '))
}

/// One row; `None` where it is not written as `data/generate.py` writes it, which a test rules out.
fn type_facts(row: &str, texts: &mut Interner) -> Option<(TypeFacts, Price)> {
    let words: Vec<&str> = row.split(' ').collect();
    let [
        name,
        arch,
        hypervisor,
        usage,
        vcpus,
        mib,
        maker,
        clock,
        flags,
        disk,
        ebs,
        interfaces,
        addresses,
        cards,
        efas,
        baseline,
        devices,
        price,
    ] = words[..]
    else {
        return None;
    };
    let devices: Vec<Vec<&str>> = match devices {
        "-" => Vec::new(),
        all => all.split(';').map(|one| one.split(':').collect()).collect(),
    };
    let network = Network {
        interfaces: interfaces.parse().ok()?,
        addresses: addresses.parse().ok()?,
        cards: match cards {
            "-" => Box::default(),
            all => all.split(',').filter_map(|most| most.parse().ok()).collect(),
        },
        efas: efas.parse().ok()?,
        ena: flags.contains('a'),
        encrypted: flags.contains('e'),
        baseline_mbps: baseline.parse().ok(),
    };
    let kind = TypeFacts {
        name: name.into(),
        arch: Arch::of_ec2(arch)?,
        hypervisor: texts.text(if hypervisor == "-" { "" } else { hypervisor }),
        spot: usage.contains('s'),
        on_demand: usage.contains('o'),
        vcpus: vcpus.parse().ok()?,
        memory_mib: mib.parse().ok()?,
        cpu_manufacturer: texts.text(&if maker == "-" {
            String::new()
        } else {
            spaced(maker)
        }),
        clock_mhz: clock.parse().ok(),
        nested_virtualization: flags.contains('n'),
        local_disk_gb: disk.parse().ok(),
        nvme: flags.contains('v'),
        ebs_mbps: ebs.parse().ok(),
        network,
        gpus: devices.iter().filter_map(|it| gpu(it, texts)).collect(),
        accelerators: devices.iter().filter_map(|it| accelerator(it)).collect(),
        neuron: devices.iter().filter_map(|it| neuron(it)).collect(),
        zones: BTreeSet::new(),
    };
    Some((kind, Price::parse_dollars(price)?))
}

fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

fn gpu(words: &[&str], texts: &mut Interner) -> Option<Gpu> {
    let ["g", name, maker, count, memory] = words else {
        return None;
    };
    Some(Gpu {
        name: texts.text(&spaced(name)),
        manufacturer: texts.text(&spaced(maker)),
        count: count.parse().ok()?,
        memory_mib: memory.parse().ok()?,
    })
}

fn accelerator(words: &[&str]) -> Option<Accelerator> {
    let ["i", name, maker, count] = words else {
        return None;
    };
    Some(Accelerator {
        name: spaced(name).into(),
        manufacturer: spaced(maker).into(),
        count: count.parse().ok()?,
    })
}

fn neuron(words: &[&str]) -> Option<Neuron> {
    let ["n", name, count, cores] = words else {
        return None;
    };
    Some(Neuron {
        name: spaced(name).into(),
        count: count.parse().ok()?,
        cores: cores.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let mut texts = Interner::default();
        let unread: Vec<&str> = lines("type")
            .filter(|row| type_facts(row, &mut texts).is_none())
            .collect();
        assert!(unread.is_empty(), "{unread:?}");
        let rows = lines("type").count();
        assert!(rows > 1000, "{rows}");
        for region in lines("region") {
            let digits = region.rsplit(' ').next().unwrap_or_default();
            assert_eq!(digits.len(), 2 * rows, "{}", &region[..20]);
        }
    }

    #[test]
    fn a_region_has_types_zones_and_prices() {
        let facts = facts("us-west-2").unwrap();
        let m5 = &facts.types["m5.large"];
        assert_eq!((m5.vcpus, m5.memory_mib, m5.zones.len()), (2, 8192, 4));
        assert_eq!(facts.prices.on_demand("m5.large"), Price::parse_dollars("0.096"));
        assert_eq!(
            facts.prices.spot("m5.large", "us-west-2a"),
            Price::parse_dollars("0.03456")
        );
        assert_eq!(facts.types["p5.48xlarge"].gpus[0].count, 8);
        assert_eq!(date().len(), 10);
    }

    #[test]
    fn a_region_that_is_not_there_is_told_with_those_that_are() {
        let error = super::facts("us-east-9").unwrap_err();
        assert!(error.known.contains(&"us-east-1"));
        assert!(error.to_string().contains("us-east-9"), "{error}");
    }
}
