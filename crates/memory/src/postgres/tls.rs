//! TLS for a connection: rustls with the system's certificates and the user's own, bound to the login.

use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

use crate::error::{Error, ErrorKind, Result};

/// Makes connections encrypted.
#[derive(Clone)]
pub(super) struct Rustls(TlsConnector);

impl Rustls {
    /// Trusts what the system trusts, and the certificates in this file.
    pub(super) fn new(ca_file: Option<&Path>) -> Result<Rustls> {
        let mut roots = RootCertStore::empty();
        // What cannot be read there is as if it were not there: then the server is not trusted.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(path) = ca_file {
            let refused = |what: String| {
                Error::new(ErrorKind::Refused, format!("{}: {what}", path.display()))
                    .hint("`[memory.team] ca_file` names a file with certificates in PEM form")
            };
            let bytes = fs::read(path).map_err(|error| refused(error.to_string()))?;
            let certificates: std::result::Result<Vec<_>, _> =
                CertificateDer::pem_slice_iter(&bytes).collect();
            let certificates = certificates.map_err(|_| refused("no certificates can be read".to_owned()))?;
            if roots.add_parsable_certificates(certificates).0 == 0 {
                return Err(refused("there is no usable certificate in it".to_owned()));
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::new(ErrorKind::Other, format!("TLS: {error}")))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Rustls(TlsConnector::from(Arc::new(config))))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Rustls {
    type Stream = Encrypted<S>;
    type TlsConnect = TlsHandshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<TlsHandshake> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| io::Error::other("a certificate cannot have this name"))?;
        Ok(TlsHandshake(self.0.clone(), name))
    }
}

/// The way to one server.
pub(super) struct TlsHandshake(TlsConnector, ServerName<'static>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for TlsHandshake {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let TlsHandshake(connector, name) = self;
        Box::pin(async move { connector.connect(name, stream).await.map(Encrypted) })
    }
}

/// An encrypted connection.
pub(super) struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        let certificates = self.0.get_ref().1.peer_certificates();
        let hash = certificates.and_then(|certificates| channel_binding_hash(certificates.first()?));
        hash.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, to)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// The certificate's hash by its own signature's algorithm (RFC 5929, `tls-server-end-point`); `None` for algorithms that
/// name no hash.
fn channel_binding_hash(certificate: &[u8]) -> Option<Vec<u8>> {
    // Certificate ::= SEQUENCE { tbsCertificate, SEQUENCE { OBJECT IDENTIFIER, … }, … }
    let inner = read_der_element(certificate)?.1;
    let after = read_der_element(inner)?.2;
    let oid = read_der_element(read_der_element(after)?.1)?.1;
    match oid {
        // RSA (1.2.840.113549.1.1.x) and ECDSA (1.2.840.10045.4.3.x); MD5 and SHA-1 are replaced by SHA-256.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 4 | 5 | 11]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 2] => Some(Sha256::digest(certificate).to_vec()),
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 12]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 3] => Some(Sha384::digest(certificate).to_vec()),
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 13]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 4] => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// The first element of DER: its tag, what is in it, what comes after it.
fn read_der_element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        let digits = rest.get(..count).filter(|_| (1..=4).contains(&count))?;
        (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), &rest[count..])
    };
    Some((tag, rest.get(..length)?, &rest[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_are_cut_short_are_none() {
        let whole = [0x30, 0x81, 0x80].into_iter().chain([7; 0x80]).collect::<Vec<u8>>();
        assert_eq!(
            read_der_element(&whole).map(|(tag, inner, after)| (tag, inner.len(), after.len())),
            Some((0x30, 0x80, 0))
        );
        for end in 0..whole.len() {
            assert_eq!(read_der_element(&whole[..end]), None, "{end}");
        }
        assert_eq!(read_der_element(&[0x30, 0x80]), None, "no length at all");
        assert_eq!(read_der_element(&[0x30, 0x85, 1, 1, 1, 1, 1]), None, "a length that nothing has");
        assert_eq!(channel_binding_hash(&whole), None);
    }
}
