//! Every input that was kept, and the same mutations of each in every run.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_parser_laws::{LAWS, Law};

/// Of each input.
const MUTATIONS: u64 = 60;

/// Longer ones would take the time of many others.
const LARGEST: usize = 64 * 1024;

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

/// The inputs of a law, and what the other tests have of its kind.
fn inputs(name: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = below(&root.join("inputs").join(name));
    let fixtures = root.join("../cli/tests/fixtures");
    let of_others = match name {
        "payload" | "status_payload" => below(&fixtures),
        "marks" | "record" | "manifest" => below(&root.join("../state/tests/written_by")),
        _ => Vec::new(),
    };
    files.extend(of_others.into_iter().filter(|file| file.extension().is_some_and(|kind| kind != "md")));
    files.iter().map(|file| fs::read(file).expect("a file of the repository")).collect()
}

/// xorshift64: the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (end.max(1) as u64)).expect("smaller than a usize")
    }
}

/// Bytes that parsers look for.
const SIGNS: &[u8] = b"\"\\{}[]():,'`$;|&<>#-\n\r\t\0 *~=!@%0e9\xff\xe3\x80";

fn mutate(input: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() + 1);
        match numbers.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, SIGNS[numbers.below(SIGNS.len())]),
            2 if at < bytes.len() => bytes[at] = SIGNS[numbers.below(SIGNS.len())],
            3 => drop(bytes.drain(at..(at + numbers.below(16)).min(bytes.len()))),
            4 => {
                let end = (at + numbers.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let from = numbers.below(other.len() + 1);
                let part = &other[from..(from + numbers.below(64)).min(other.len())];
                bytes.splice(at..at, part.iter().copied());
            }
        }
    }
    bytes
}

/// The panic says which law and which bytes.
fn check(name: &str, law: Law, bytes: &[u8]) {
    let held = std::panic::catch_unwind(|| law(bytes));
    assert!(
        held.is_ok(),
        "`{name}` does not hold; keep these bytes in inputs/{name}: {:?}",
        bytes.escape_ascii().to_string()
    );
}

#[test]
fn every_law_holds_for_what_was_kept_and_its_mutations() {
    std::thread::scope(|scope| {
        for (name, law) in LAWS {
            scope.spawn(move || {
                let inputs = inputs(name);
                assert!(inputs.len() >= 4, "{name} has {} inputs", inputs.len());
                let mut numbers = Numbers(0x7169_6465);
                for input in inputs.iter().filter(|input| input.len() <= LARGEST) {
                    check(name, law, input);
                    for _ in 0..MUTATIONS {
                        let other = &inputs[numbers.below(inputs.len())];
                        check(name, law, &mutate(input, other, &mut numbers));
                    }
                }
            });
        }
    });
}

#[test]
fn every_folder_of_inputs_belongs_to_a_law() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs");
    for entry in fs::read_dir(folder).expect("the inputs").flatten() {
        let name = entry.file_name().into_string().expect("UTF-8");
        assert!(LAWS.iter().any(|(law, _)| *law == name), "{name}");
    }
}
