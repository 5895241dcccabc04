//! Ports on 127.0.0.1.
//!
//! Output: ports that were free a moment ago. Somebody may take one before it is used, so whoever starts a server with it
//! recognises a taken port in its log (`is_taken`) and tries again with another.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

use crate::error::{Error, Result};

/// Chooses `N` different free ports; all are held open until the last is found, so no two are equal.
pub(crate) fn free<const N: usize>() -> io::Result<[u16; N]> {
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

/// The port that was asked for, if nobody has it, or a free one.
pub(crate) fn wanted(port: Option<u16>, part: &str) -> Result<u16> {
    let address = (Ipv4Addr::LOCALHOST, port.unwrap_or(0));
    match (TcpListener::bind(address), port) {
        (Ok(listener), _) => Ok(listener
            .local_addr()
            .map_err(|cause| Error::Start {
                program: part.to_owned(),
                cause,
            })?
            .port()),
        (Err(_), Some(port)) => Err(Error::PortBusy {
            port,
            part: part.to_owned(),
        }),
        (Err(cause), None) => Err(Error::Start {
            program: part.to_owned(),
            cause,
        }),
    }
}

/// True when a log says that a port was taken.
pub(crate) fn is_taken(log: &str) -> bool {
    log.to_ascii_lowercase().contains("address already in use")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_differ() {
        let ports = free::<8>().unwrap();
        let mut unique = ports.to_vec();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), 8, "{ports:?}");
    }

    #[test]
    fn a_busy_port_is_named() {
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = held.local_addr().unwrap().port();
        let error = wanted(Some(port), "emulator").unwrap_err().to_string();
        assert!(
            error.contains(&port.to_string()) && error.contains("emulator"),
            "{error}"
        );
    }

    #[test]
    fn a_taken_port_is_recognised_in_a_log() {
        assert!(is_taken(
            "listen tcp 127.0.0.1:6443: bind: address already in use"
        ));
        assert!(is_taken("OSError: [Errno 98] Address already in use"));
        assert!(!is_taken("connection refused"));
    }
}
