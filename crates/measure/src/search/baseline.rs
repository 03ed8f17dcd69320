//! What the search is compared with: BM25 over all words and pairs of characters, any of which is enough.

use std::collections::BTreeMap;

/// The usual constants.
const K1: f64 = 1.2;
const B: f64 = 0.75;

pub(crate) struct Bm25 {
    /// Per document, how often each term occurs, and its length.
    documents: Vec<(BTreeMap<String, f64>, f64)>,
    frequency: BTreeMap<String, f64>,
    usual_length: f64,
}

impl Bm25 {
    pub(crate) fn of(texts: impl Iterator<Item = String>) -> Bm25 {
        let mut documents = Vec::new();
        let mut frequency: BTreeMap<String, f64> = BTreeMap::new();
        for text in texts {
            let mut counts: BTreeMap<String, f64> = BTreeMap::new();
            let terms = terms(&text);
            let length = terms.len() as f64;
            for term in terms {
                *counts.entry(term).or_default() += 1.0;
            }
            for term in counts.keys() {
                *frequency.entry(term.clone()).or_default() += 1.0;
            }
            documents.push((counts, length));
        }
        let total: f64 = documents.iter().map(|(_, length)| length).sum();
        let usual_length = total / (documents.len().max(1) as f64);
        Bm25 { documents, frequency, usual_length }
    }

    /// Numbers of documents that share anything with the query, best first.
    pub(crate) fn search(&self, query: &str) -> Vec<usize> {
        let all = self.documents.len() as f64;
        let mut asked = terms(query);
        asked.sort_unstable();
        asked.dedup();
        let mut found: Vec<(f64, usize)> = Vec::new();
        for (number, (counts, length)) in self.documents.iter().enumerate() {
            let mut score = 0.0;
            for term in &asked {
                let Some(often) = counts.get(term) else { continue };
                let count = self.frequency[term];
                let rarity = (1.0 + (all - count + 0.5) / (count + 0.5)).ln();
                score +=
                    rarity * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * length / self.usual_length));
            }
            if score > 0.0 {
                found.push((score, number));
            }
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found.into_iter().map(|(_, number)| number).collect()
    }
}

/// Words in small letters; of scripts without spaces, each pair of characters.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let (mut word, mut run) = (String::new(), Vec::new());
    let mut end = |word: &mut String, run: &mut Vec<char>| {
        if !word.is_empty() {
            terms.push(std::mem::take(word));
        }
        match run.as_slice() {
            [] => {}
            [one] => terms.push(one.to_string()),
            several => terms.extend(several.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
        run.clear();
    };
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() && c < '\u{2e80}' {
            if !run.is_empty() {
                end(&mut word, &mut run);
            }
            word.push(c);
        } else if c.is_alphanumeric() || c == 'ー' {
            if !word.is_empty() {
                end(&mut word, &mut run);
            }
            run.push(c);
        } else {
            end(&mut word, &mut run);
        }
    }
    end(&mut word, &mut run);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_pairs_of_characters() {
        assert_eq!(terms("The API_v2 は設計書。"), ["the", "api", "v2", "は設", "設計", "計書"]);
        assert_eq!(terms("設 a"), ["設", "a"]);
    }

    #[test]
    fn any_word_is_enough_and_rare_ones_count_more() {
        let texts = ["the rare crane", "the the the", "the harbour", "nothing"];
        let search = Bm25::of(texts.iter().map(ToString::to_string));
        assert_eq!(search.search("the crane"), [0, 1, 2]);
        assert_eq!(search.search("zebra"), Vec::<usize>::new());
    }
}
