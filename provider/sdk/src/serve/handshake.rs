//! Version negotiation and the handshake line. Pure.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::listen::Endpoint;

/// The protocol versions served, ascending.
const SERVED: [u32; 1] = [6];

/// The highest version that both sides speak; when there is none, our lowest, so that the client can say what is wrong.
pub(crate) fn negotiate(offered: Option<&str>) -> u32 {
    let offered: Vec<u32> = offered
        .unwrap_or_default()
        .split(',')
        .filter_map(|version| version.trim().parse().ok())
        .collect();
    let common = SERVED.iter().rev().find(|version| offered.contains(version));
    *common.unwrap_or(&SERVED[0])
}

/// The line, without its end: core protocol, plugin protocol, network, address, wire format, certificate.
pub(crate) fn line(version: u32, endpoint: &Endpoint, certificate: Option<&[u8]>, multiplex: bool) -> String {
    let certificate = certificate
        .map(|der| STANDARD_NO_PAD.encode(der))
        .unwrap_or_default();
    let multiplex = if multiplex { "|false" } else { "" };
    format!(
        "1|{version}|{}|{}|grpc|{certificate}{multiplex}",
        endpoint.network(),
        endpoint.address()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_the_highest_common_version() {
        for (offered, want) in [
            (Some("5,6"), 6),
            (Some("6,5"), 6),
            (Some("6"), 6),
            (Some("5"), 6),
            (Some("6,7"), 6),
            (Some(" 6 "), 6),
            (Some(""), 6),
            (None, 6),
        ] {
            assert_eq!(negotiate(offered), want, "{offered:?}");
        }
    }

    #[test]
    fn writes_the_line() {
        let endpoint = Endpoint::Unix("/tmp/x/plugin.sock".into());
        assert_eq!(
            line(6, &endpoint, None, false),
            "1|6|unix|/tmp/x/plugin.sock|grpc|"
        );
        assert_eq!(
            line(6, &endpoint, Some(b"ab"), true),
            "1|6|unix|/tmp/x/plugin.sock|grpc|YWI|false"
        );
        let endpoint = Endpoint::Tcp("127.0.0.1:10000".parse().unwrap());
        assert_eq!(line(6, &endpoint, None, false), "1|6|tcp|127.0.0.1:10000|grpc|");
    }
}
