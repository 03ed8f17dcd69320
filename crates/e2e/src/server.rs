//! Just enough HTTP/1.1 on loopback for a scripted model: whole requests in, whole answers out.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bodies have a length: no host sends them chunked or compressed (2026-11).
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Incoming {
    /// Without the query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// By its lower-case name; empty if missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// On a free port of the loopback interface, until dropped.
pub(crate) struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Handles connections in parallel.
    pub(crate) fn start(respond: impl Fn(&Incoming) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free loopback port");
        let address = listener.local_addr().expect("the listener's address");
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, respond) = (Arc::clone(&stop), Arc::new(respond));
        let acceptor = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let respond = Arc::clone(&respond);
                std::thread::spawn(move || serve_connection(stream, &*respond));
            }
        });
        Self { address, stop, acceptor: Some(acceptor) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // The acceptor sleeps in `accept`: one last connection wakes it.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// Until the client closes the connection.
fn serve_connection(stream: TcpStream, respond: &dyn Fn(&Incoming) -> String) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        if writer.write_all(respond(&request).as_bytes()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Incoming> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    let method = words.next()?.to_owned();
    let target = words.next()?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Incoming { method, target, headers, body: Vec::new() };
    let length = request.header("content-length");
    let length = if length.is_empty() { 0 } else { length.parse().ok()? };
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

pub(crate) fn answer(status: u16, content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\nrequest-id: req_scripted\r\ncontent-length: {}\r\n\r\n{body}",
        if status == 200 { "OK" } else { "Error" },
        body.len(),
    )
}
