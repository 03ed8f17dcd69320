//! A proxy between a client and a server that can stall or cut connections.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Open,
    /// Keeps connections but passes nothing.
    Stalled,
    /// Closes old and new connections.
    Cut,
    /// Refuses TLS.
    Plain,
}

#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    way: Mutex<Way>,
    changed: Condvar,
    streams: Mutex<Vec<TcpStream>>,
    /// Bytes of clients until everything is cut or stalls.
    left: Mutex<Option<(u64, Way)>>,
    /// Bytes of a client until its connection is cut.
    each: Mutex<Option<u64>>,
    /// Bytes to a client until its connection is cut.
    each_answer: Mutex<Option<u64>>,
}

impl Proxy {
    /// In front of the server on this port.
    pub fn before(server: u16) -> io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            way: Mutex::new(Way::Open),
            changed: Condvar::new(),
            streams: Mutex::new(Vec::new()),
            left: Mutex::new(None),
            each: Mutex::new(None),
            each_answer: Mutex::new(None),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(client, server, &state));
            }
        });
        Ok(Proxy { port, state })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn set(&self, way: Way) {
        *self.state.way.lock().expect("no thread panics with it") = way;
        self.state.changed.notify_all();
        if way == Way::Cut {
            self.state.cut();
        }
    }

    /// Becomes [`Way::Cut`] after this many bytes from clients.
    pub fn cut_after(&self, bytes: u64) {
        self.set(Way::Open);
        *self.state.left.lock().expect("no thread panics with it") = Some((bytes, Way::Cut));
    }

    /// Becomes [`Way::Stalled`] after this many bytes from clients.
    pub fn stall_after(&self, bytes: u64) {
        self.set(Way::Open);
        *self.state.left.lock().expect("no thread panics with it") = Some((bytes, Way::Stalled));
    }
}

impl Proxy {
    /// Cuts each connection after this many bytes from its client.
    pub fn cut_each_after(&self, bytes: u64) {
        *self.state.each.lock().expect("no thread panics with it") = Some(bytes);
    }

    /// Cuts each connection after this many bytes to its client.
    pub fn cut_each_answer_after(&self, bytes: u64) {
        *self.state.each_answer.lock().expect("no thread panics with it") = Some(bytes);
    }
}

impl State {
    fn cut(&self) {
        for stream in self.streams.lock().expect("no thread panics with it").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Waits while stalled; `false` to end.
    fn passes(&self) -> bool {
        let way = self.way.lock().expect("no thread panics with it");
        let way = self.changed.wait_while(way, |way| *way == Way::Stalled).expect("no thread panics with it");
        *way != Way::Cut
    }

    /// The number of bytes that may still pass.
    fn spend(&self, bytes: usize) -> usize {
        let mut left = self.left.lock().expect("no thread panics with it");
        let Some((budget, then)) = *left else { return bytes };
        let taken = budget.min(bytes as u64);
        *left = Some((budget - taken, then));
        taken as usize
    }
}

fn serve(mut client: TcpStream, server: u16, state: &Arc<State>) {
    if !state.passes() {
        return;
    }
    if *state.way.lock().expect("no thread panics with it") == Way::Plain {
        let _ = client.read(&mut [0; 64]).and_then(|_| client.write_all(b"N"));
        let _ = client.read(&mut [0; 64]);
        return;
    }
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else { return };
    let (Ok(from_client), Ok(to_client)) = (client.try_clone(), client.try_clone()) else { return };
    let (Ok(to_server), Ok(kept)) = (server.try_clone(), server.try_clone()) else { return };
    state.streams.lock().expect("no thread panics with it").extend([client, kept]);
    let back = Arc::clone(state);
    thread::spawn(move || pass(server, to_client, &back, false));
    pass(from_client, to_server, state, true);
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: &State, from_client: bool) {
    let mut buffer = [0; 16 * 1024];
    let mut passed = 0;
    while let Ok(count) = from.read(&mut buffer) {
        passed += count as u64;
        let most = if from_client { &state.each } else { &state.each_answer };
        let most = *most.lock().expect("no thread panics with it");
        if most.is_some_and(|most| passed > most) {
            break;
        }
        if count == 0 || !state.passes() {
            break;
        }
        let allowed = if from_client { state.spend(count) } else { count };
        if to.write_all(&buffer[..allowed]).is_err() {
            break;
        }
        if allowed < count {
            let then = state.left.lock().expect("no thread panics with it").take();
            let then = then.map_or(Way::Cut, |(_, then)| then);
            *state.way.lock().expect("no thread panics with it") = then;
            if then == Way::Stalled && state.passes() {
                continue;
            }
            state.cut();
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
