//! Addresses of pods: each pod on a system node has one of 127/8 to itself, so that two replicas listen on the same port.
//!
//! Linux answers on every address of 127/8 without any set-up. 127.0/16 is left to everybody else.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

/// The addresses in use; clones share them.
#[derive(Debug, Clone)]
pub(super) struct Addresses {
    /// Second byte of the addresses, so that sandboxes side by side do not share them.
    net: u8,
    used: Arc<Mutex<BTreeSet<u16>>>,
}

/// An address in use; free again when dropped.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) ip: Ipv4Addr,
    host: u16,
    addresses: Addresses,
}

impl Addresses {
    /// The addresses of a cluster; `seed` (its API server's port) keeps clusters apart.
    pub(super) fn new(seed: u16) -> Self {
        Self {
            net: u8::try_from(seed % 250).unwrap_or(0) + 2,
            used: Arc::default(),
        }
    }

    /// Takes the lowest free address; `None` when all 65 thousand are in use.
    pub(super) fn take(&self) -> Option<Address> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let host =
            (1..u16::MAX).find(|host| host & 0xff != 0 && host & 0xff != 0xff && !used.contains(host))?;
        used.insert(host);
        let [high, low] = host.to_be_bytes();
        Some(Address {
            ip: Ipv4Addr::new(127, self.net, high, low),
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
        assert_ne!(Addresses::new(41_206).take().unwrap().ip, ip);
    }
}
