//! Which requests are answered: those of a reader who knows the token, made by a page of this server or typed.
//!
//! Another page in the same browser can send requests to loopback, and a name of its own can lead there. It does not know
//! the token; `Host` and `Origin` show it even if the token leaked.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};

/// Sent with every answer.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

/// Where the page is that a browser sends a request for.
const SENDER: HeaderName = HeaderName::from_static("sec-fetch-site");

/// For a person who follows an old address, or a link on another page. Its language is not known.
pub(super) const REFUSED: &str = "\
Tidegate refused this request. Copy the address that `tidegate serve` prints into the address line of a browser on this
machine. Each start has a new address, and a link on another page does not open it.

Tidegate はこのリクエストを拒否しました。`tidegate serve` が表示する URL を、このマシンのブラウザーのアドレス欄に貼り付けてください。
URL は起動のたびに変わり、ほかのページのリンクからは開けません。
";

#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) token: String,
    pub(super) port: u16,
}

impl Guard {
    /// The answer to a request that gets no page.
    pub(super) fn refuse(&self, method: &Method, address: &Uri, headers: &HeaderMap) -> Option<StatusCode> {
        let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        // A second one could be another's.
        let is_single = [&header::HOST, &header::ORIGIN, &SENDER]
            .into_iter()
            .all(|name| headers.get_all(name).iter().count() <= 1);
        let is_ours = is_single
            && text(&header::HOST).is_some_and(|host| self.is_own_host(host))
            && text(&header::ORIGIN).is_none_or(|origin| self.is_own_origin(origin))
            // As for a proxy, which this is not.
            && address.authority().is_none();
        let sender = text(&SENDER);
        let is_near = matches!(sender, None | Some("same-origin" | "none"));
        if !is_ours || !is_near {
            return Some(StatusCode::FORBIDDEN);
        }
        // Nothing can be changed here, so nothing else is understood.
        if *method != Method::GET && *method != Method::HEAD {
            return Some(StatusCode::METHOD_NOT_ALLOWED);
        }
        let given = address.path().trim_start_matches('/').split('/').next().unwrap_or_default();
        (!is_same(given, &self.token)).then_some(StatusCode::FORBIDDEN)
    }

    fn is_own_host(&self, host: &str) -> bool {
        let port = self.port;
        [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
            .iter()
            .any(|own| own.eq_ignore_ascii_case(host))
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|host| self.is_own_host(host))
    }
}

/// Takes the same time wherever the two differ.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
    given.len() == token.len() && differences == 0
}

/// 128 bits from the system, as letters and digits.
pub(super) fn new_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(method: &Method, path: &str, headers: &[(&'static str, &'static str)]) -> Option<u16> {
        let guard = Guard { token: "0a1b".to_owned(), port: 4000 };
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        pairs.for_each(|(name, value)| _ = map.append(name, value));
        guard.refuse(method, &path.parse().unwrap(), &map).map(|code| code.as_u16())
    }

    #[test]
    fn only_a_reader_with_the_token_gets_an_answer() {
        let own = ("host", "127.0.0.1:4000");
        let get = |path, headers: &[_]| answer(&Method::GET, path, headers);
        assert_eq!(get("/0a1b/", &[own]), None);
        assert_eq!(get("/0a1b", &[("host", "LOCALHOST:4000")]), None);
        assert_eq!(get("/0a1b/session/x", &[own, ("origin", "http://127.0.0.1:4000")]), None);
        assert_eq!(get("/0a1b/", &[own, ("sec-fetch-site", "none")]), None);
        for (path, headers) in [
            ("/", vec![own]),
            ("http://evil.example/0a1b/", vec![own]),
            ("/0a1c/", vec![own]),
            ("/0a1", vec![own]),
            ("/0a1b0", vec![own]),
            ("/0a1b/", vec![]),
            ("/0a1b/", vec![("host", "127.0.0.1")]),
            ("/0a1b/", vec![("host", "evil.example:4000")]),
            ("/0a1b/", vec![("host", "127.0.0.1:4001")]),
            ("/0a1b/", vec![own, own]),
            ("/0a1b/", vec![own, ("origin", "http://evil.example")]),
            ("/0a1b/", vec![own, ("origin", "null")]),
            ("/0a1b/", vec![own, ("origin", "https://127.0.0.1:4000")]),
            ("/0a1b/", vec![own, ("sec-fetch-site", "cross-site")]),
            ("/0a1b/", vec![own, ("sec-fetch-site", "same-site")]),
            ("/0a1b/", vec![own, ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")]),
            ("/0a1b/", vec![own, ("sec-fetch-site", "none"), ("sec-fetch-site", "none")]),
            ("/0a1b/", vec![own, ("origin", "http://127.0.0.1:4000"), ("origin", "http://evil.example")]),
            ("/0a1b/", vec![own, ("origin", "http://127.0.0.1:4000"), ("origin", "http://127.0.0.1:4000")]),
        ] {
            assert_eq!(get(path, &headers), Some(403), "{path} {headers:?}");
        }
    }

    #[test]
    fn nothing_can_be_changed() {
        let own = ("host", "127.0.0.1:4000");
        for method in
            [Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS, Method::CONNECT]
        {
            assert_eq!(answer(&method, "/0a1b/", &[own]), Some(405), "{method}");
        }
        assert_eq!(answer(&Method::HEAD, "/0a1b/", &[own]), None);
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert_eq!((one.len(), other.len()), (32, 32));
        assert_ne!(one, other);
    }
}
