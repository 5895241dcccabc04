//! What the agent has to ask EC2 about an instance type: its network interfaces, which decide the number of pods.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::capacity::Network;
use crate::aws;
use crate::supervisor::Emulator;

/// Answers of EC2, each asked for once.
#[derive(Debug)]
pub(super) struct Facts {
    emulator: Emulator,
    known: Mutex<BTreeMap<String, Network>>,
}

impl Facts {
    /// Nothing is known yet.
    pub(super) fn new(emulator: Emulator) -> Self {
        Self {
            emulator,
            known: Mutex::default(),
        }
    }

    /// The interfaces of a type; `None` when EC2 does not tell.
    pub(super) async fn of(&self, instance_type: &str) -> Option<Network> {
        if let Some(known) = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(instance_type)
        {
            return Some(*known);
        }
        let body = format!("Action=DescribeInstanceTypes&Version=2016-11-15&InstanceType.1={instance_type}");
        let network = match aws::query(&self.emulator, "ec2", &body).await {
            Ok(text) => read(&text),
            Err(error) => {
                tracing::warn!(%error, instance_type, "EC2 does not tell about an instance type");
                None
            }
        }?;
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(instance_type.to_owned(), network);
        Some(network)
    }
}

/// Reads the answer's XML: one type, one `networkInfo`.
fn read(text: &str) -> Option<Network> {
    let info = between(text, "<networkInfo>", "</networkInfo>")?;
    let number = |name: &str| {
        between(info, &format!("<{name}>"), &format!("</{name}>"))?
            .trim()
            .parse()
            .ok()
    };
    Some(Network {
        interfaces: number("maximumNetworkInterfaces")?,
        addresses: number("ipv4AddressesPerInterface")?,
    })
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = text.find(open)? + open.len();
    let length = text[start..].find(close)?;
    Some(&text[start..start + length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interfaces_are_found() {
        let text = "<item><networkInfo><networkCards><item><maximumNetworkInterfaces>3</maximumNetworkInterfaces></item></networkCards><ipv4AddressesPerInterface>10</ipv4AddressesPerInterface><maximumNetworkInterfaces>3</maximumNetworkInterfaces></networkInfo></item>";
        assert_eq!(
            read(text),
            Some(Network {
                interfaces: 3,
                addresses: 10
            })
        );
        assert_eq!(read("<x/>"), None);
    }
}
