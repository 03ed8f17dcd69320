//! The floor under every hook: a process that reads its stdin to the end and exits.

use std::io::Read;

fn main() {
    let mut payload = Vec::new();
    let _ = std::io::stdin().lock().read_to_end(&mut payload);
}
