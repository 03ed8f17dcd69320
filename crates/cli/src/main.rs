//! stub
use std::io::Read;
fn main() { let mut b=Vec::new(); std::io::stdin().read_to_end(&mut b).unwrap(); }
