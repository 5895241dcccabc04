//! Addresses of pods: each pod on a system node has one of 127/8 to itself, so that two replicas listen on the same port.
//!
//! Linux answers on every address of 127/8 without any set-up. 127.0/16 is left to everybody else.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

/// The addresses in use; clones share them.
#[derive(Debug, Clone)]
pub(super) struct Addresses {
    /// The middle bytes of the addresses: no two clusters on this machine share them.
    net: [u8; 2],
    used: Arc<Mutex<BTreeSet<u8>>>,
}

/// An address in use; free again when dropped.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) ip: Ipv4Addr,
    host: u8,
    addresses: Addresses,
}

impl Addresses {
    /// The addresses of the cluster whose API server listens on `port`, which is above 1023: nobody else on this machine does.
    pub(super) fn new(port: u16) -> Self {
        Self {
            net: port.to_be_bytes(),
            used: Arc::default(),
        }
    }

    /// Takes the lowest free address; `None` when all 254 are in use, which is more than the pods that the nodes take.
    pub(super) fn take(&self) -> Option<Address> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let host = (1..u8::MAX).find(|host| !used.contains(host))?;
        used.insert(host);
        let [high, low] = self.net;
        Some(Address {
            ip: Ipv4Addr::new(127, high, low, host),
            host,
            addresses: self.clone(),
        })
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        self.addresses
            .used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_unique_and_come_back() {
        let addresses = Addresses::new(41_205);
        let first = addresses.take().unwrap();
        let second = addresses.take().unwrap();
        assert!(first.ip.is_loopback() && first.ip != second.ip);
        let ip = first.ip;
        drop(first);
        assert_eq!(addresses.take().unwrap().ip, ip);
    }

    #[test]
    fn clusters_side_by_side_share_none() {
        let first = |port| Addresses::new(port).take().unwrap().ip;
        let all: BTreeSet<Ipv4Addr> = (1024..=u16::MAX).map(first).collect();
        assert_eq!(all.len(), usize::from(u16::MAX - 1023));
    }
}
