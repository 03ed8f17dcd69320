//! Encodes the phrases of `corpus/phase/lexicon.*.txt` for the classifier.

use std::collections::BTreeMap;

use tidegate_core::feature::activity::classifier::features::phrase_hashes;
use tidegate_core::feature::activity::classifier::lexicon::BEGINNING;

use super::corpus;
use xtask::failure::{Done, Failure};

pub(crate) fn encode(language: &str) -> Done<Vec<u8>> {
    let (path, text) = corpus::read_file(&format!("lexicon.{language}.txt"))?;
    encode_text(&text).map_err(|what| Failure::new(format!("{}: {what}", path.display())))
}

fn encode_text(text: &str) -> Result<Vec<u8>, String> {
    let mut classes: BTreeMap<u32, u8> = BTreeMap::new();
    for (number, line) in text.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let (_, phrases) = line.split_once(": ").ok_or_else(|| format!("cannot read {line:?}"))?;
        for text in phrases.split(", ") {
            let hashes = phrase_hashes(text);
            let (whole, beginnings) =
                hashes.split_last().ok_or_else(|| format!("an empty phrase in {line:?}"))?;
            match classes.insert(*whole, number as u8) {
                None | Some(BEGINNING) => {}
                Some(_) => return Err(format!("`{text}` stands twice, as the classifier reads it")),
            }
            for beginning in beginnings {
                classes.entry(*beginning).or_insert(BEGINNING);
            }
        }
    }
    let mut bytes = (classes.len() as u32).to_le_bytes().to_vec();
    bytes.extend(classes.keys().flat_map(|hash| hash.to_le_bytes()));
    bytes.extend(classes.values());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_and_their_beginnings() {
        let bytes = encode_text("# words\none: look, look up now\ntwo: find").unwrap();
        // look, look up, look up now, find
        assert_eq!((bytes[0], bytes.len()), (4, 4 + 4 * 5));
        let mut classes = bytes[20..].to_vec();
        classes.sort_unstable();
        assert_eq!(classes, [0, 0, 1, BEGINNING]);
        for wrong in ["one: a, A", "one", "one: x, , y"] {
            assert!(encode_text(wrong).is_err(), "{wrong}");
        }
    }
}
