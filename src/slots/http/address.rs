//! Where a request goes: the endpoint's URL, and whether it stays on this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// A base URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum AddressError {
    /// It is no URL.
    #[error("`base_url` is not a URL: {0}")]
    NotAUrl(String),
    /// Its scheme is not spoken here.
    #[error("`base_url` begins with `{0}:`: only `http:` and `https:` can be asked")]
    Scheme(String),
}

/// The URL of `path` below `base`; a query of the base is kept.
pub(super) fn endpoint(base: &str, path: &str) -> Result<Url, AddressError> {
    let mut url = Url::parse(base.trim()).map_err(|error| AddressError::NotAUrl(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(AddressError::Scheme(url.scheme().to_owned()));
    }
    let path = format!("{}/{}", url.path().trim_end_matches('/'), path.trim_start_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// Whether `url` names this machine by a loopback address or a name that is reserved for one (RFC 6761).
pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match host.parse::<IpAddr>() {
        Ok(address) => is_loopback_address(address),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

fn is_loopback_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4 == Ipv4Addr::UNSPECIFIED,
        IpAddr::V6(v6) => {
            v6.is_loopback() || v6 == Ipv6Addr::UNSPECIFIED || v6.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
    }
}

/// Whether both have the same scheme, host and port.
pub(super) fn same_origin(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme() && a.host() == b.host() && a.port_or_known_default() == b.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_goes_below_the_base_and_a_query_stays() {
        for (base, full) in [
            ("http://h/v1", "http://h/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            ("http://h:81", "http://h:81/chat/completions"),
            ("https://h/d?api-version=7", "https://h/d/chat/completions?api-version=7"),
        ] {
            assert_eq!(endpoint(base, "chat/completions").unwrap().as_str(), full);
        }
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        assert!(matches!(endpoint("localhost/v1", "x"), Err(AddressError::NotAUrl(_))));
        assert_eq!(endpoint("file:///etc/passwd", "x"), Err(AddressError::Scheme("file".to_owned())));
    }

    #[test]
    fn loopback_is_told_from_other_hosts() {
        for here in
            ["http://127.0.0.1:1", "http://127.9.0.1", "http://[::1]:8", "https://localhost", "http://a.localhost"]
        {
            assert!(is_loopback(&Url::parse(here).unwrap()), "{here}");
        }
        for there in ["http://10.0.0.1", "https://localhost.example", "http://example", "http://[fe80::1]"] {
            assert!(!is_loopback(&Url::parse(there).unwrap()), "{there}");
        }
    }
}
