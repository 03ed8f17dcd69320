//! Stems of English words: removes plurals, `-ed` and `-ing`, so that one form finds the others.
//!
//! A stem need not be a word, only the same for all forms of a word. Words of other languages and words with
//! digits are left as they are.

/// Expects a folded word.
pub(crate) fn stem(word: &mut String) {
    if let Ok(place) = IRREGULAR.binary_search_by_key(&word.as_str(), |(form, _)| form) {
        word.clear();
        word.push_str(IRREGULAR[place].1);
    }
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    // The last letter rules most words out.
    if last_letter(word) == b's' {
        strip_plural(word);
    }
    let length = word.len();
    if matches!(last_letter(word), b'd' | b'g') {
        strip_ed_or_ing(word);
    }
    if word.len() > 3 && last_letter(word) == b'e' {
        word.pop();
    }
    let is_verb = word.len() < length;
    strip_noun_ending(word);
    spell_one_way(word, is_verb);
    let bytes = word.as_bytes();
    if let [.., before, last] = bytes
        && bytes.len() > 3
        && before == last
        && !is_vowel(*last)
    {
        word.pop();
    }
}

/// connect(ion), migrat(ion), quick(ly), automatic(ally).
fn strip_noun_ending(word: &mut String) {
    let end = match word.as_bytes() {
        [.., b's', b't', b'i', b'o', b'n'] => 0,
        [.., b't', b'i', b'o', b'n'] if word.len() >= 8 => 3,
        [.., b'c', b'a', b'l', b'l', b'y'] if word.len() >= 8 => 4,
        [.., b'l', b'y'] if word.len() >= 7 => 2,
        _ => 0,
    };
    word.truncate(word.len() - end);
}

/// Words that are spelled differently in Britain and in America.
fn spell_one_way(word: &mut String, is_verb: bool) {
    let (end, other) = match word.as_bytes() {
        [.., b'o', b'u', b'r'] if word.len() >= 6 => (3, "or"),
        [.., b'i', b's'] if is_verb && word.len() >= 6 => (1, "z"),
        [.., b'y', b's'] if is_verb && word.len() >= 6 => (1, "z"),
        [.., b'i', b's' | b'z', b'a', b't'] if word.len() >= 8 => (3, "z"),
        [.., b'o', b'g', b'u'] if is_verb && word.len() >= 6 => (1, ""),
        _ => return,
    };
    word.truncate(word.len() - end);
    word.push_str(other);
}

/// Forms that no rule leads to the others, sorted. The second is a form that the rules then shorten.
const IRREGULAR: &[(&str, &str)] = &[
    ("analyses", "analyze"),
    ("analysis", "analyze"),
    ("artefact", "artifact"),
    ("artefacts", "artifact"),
    ("began", "begin"),
    ("begun", "begin"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("came", "come"),
    ("caught", "catch"),
    ("centre", "center"),
    ("centred", "center"),
    ("centres", "center"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("criteria", "criterion"),
    ("dbs", "db"),
    ("defence", "defense"),
    ("drawn", "draw"),
    ("drew", "draw"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("dying", "die"),
    ("fallen", "fall"),
    ("fell", "fall"),
    ("felt", "feel"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("gave", "give"),
    ("given", "give"),
    ("gone", "go"),
    ("gray", "grey"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("hung", "hang"),
    ("ids", "id"),
    ("indices", "index"),
    ("ips", "ip"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("led", "lead"),
    ("left", "leave"),
    ("licence", "license"),
    ("licences", "license"),
    ("lost", "lose"),
    ("lying", "lie"),
    ("made", "make"),
    ("matrices", "matrix"),
    ("meant", "mean"),
    ("men", "man"),
    ("met", "meet"),
    ("paid", "pay"),
    ("pcs", "pc"),
    ("people", "person"),
    ("programme", "program"),
    ("programmes", "program"),
    ("prs", "pr"),
    ("ran", "run"),
    ("risen", "rise"),
    ("rose", "rise"),
    ("sent", "send"),
    ("shook", "shake"),
    ("shown", "show"),
    ("shrank", "shrink"),
    ("shrunk", "shrink"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stood", "stand"),
    ("stuck", "stick"),
    ("swept", "sweep"),
    ("taken", "take"),
    ("taught", "teach"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("tore", "tear"),
    ("torn", "tear"),
    ("tying", "tie"),
    ("vertices", "vertex"),
    ("vms", "vm"),
    ("went", "go"),
    ("woke", "wake"),
    ("women", "woman"),
    ("won", "win"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Stems of words of which an unfinished ending such as `runni` was typed: what is typed may be longer than
/// the stem.
pub fn unfinished_stems(word: &str) -> Vec<String> {
    let mut stems = Vec::new();
    for end in ["ing", "ed", "ies", "ied", "es"] {
        for typed in 1..end.len() {
            if word.ends_with(&end[..typed]) {
                let mut whole = format!("{word}{}", &end[typed..]);
                stem(&mut whole);
                stems.push(whole);
            }
        }
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn last_letter(word: &str) -> u8 {
    word.as_bytes().last().copied().unwrap_or_default()
}

fn strip_plural(word: &mut String) {
    match word.as_bytes() {
        [.., b'i', b'e', b's'] if word.len() > 4 => {
            word.truncate(word.len() - 3);
            word.push('y');
        }
        [.., b's' | b'x' | b'z', b'e', b's'] | [.., b'c' | b's', b'h', b'e', b's'] if word.len() > 4 => {
            word.truncate(word.len() - 2);
        }
        [.., b's' | b'u' | b'i', b's'] => {}
        _ => {
            word.pop();
        }
    }
}

fn strip_ed_or_ing(word: &mut String) {
    let end = match word.as_bytes() {
        [.., b'i', b'e', b'd'] if word.len() > 4 => {
            word.truncate(word.len() - 3);
            word.push('y');
            return;
        }
        [.., b'e', b'e', b'd'] => return,
        [.., b'i', b'n', b'g'] => 3,
        [.., b'e', b'd'] => 2,
        _ => return,
    };
    let rest = &word.as_bytes()[..word.len() - end];
    if rest.len() >= 3 && rest.iter().any(|byte| is_vowel(*byte) || *byte == b'y') {
        word.truncate(rest.len());
    }
}

fn is_vowel(byte: u8) -> bool {
    b"aeiou".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for forms in [
            "test tests testing tested",
            "migrate migrates migrating migrated",
            "decision decisions",
            "query queries queried querying",
            "cache caches cached caching",
            "stop stops stopped stopping",
            "process processes processing processed",
            "index indexes indexed indexing",
            "fall falls falling",
            "class classes",
            "setting settings set",
            "use uses",
            "merge merges merged merging",
            "migration migrations migrate",
            "connect connection connections connected",
            "colour colours color colored",
            "behaviour behaviors",
            "normalise normalised normalizing normalization normalisation",
            "catalogue catalogues catalog",
            "cancelled canceled cancelling cancel",
            "break broke broken breaking",
            "write wrote written writes",
            "send sent sending",
            "id ids",
            "index indices",
            "centre center centres",
            "licence license licenses",
            "quick quickly",
            "automatic automatically",
        ] {
            let stems: Vec<String> = forms.split(' ').map(of).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn what_is_typed_of_an_ending_is_no_other_word() {
        for (typed, whole) in [
            ("processi", "processing"),
            ("processin", "process"),
            ("queri", "query"),
            ("querie", "queries"),
            ("stoppe", "stop"),
            ("matche", "matches"),
        ] {
            assert!(unfinished_stems(typed).contains(&of(whole)), "{typed}: {:?}", unfinished_stems(typed));
        }
        assert_eq!(unfinished_stems("tidal"), Vec::<String>::new());
    }

    #[test]
    fn irregular_forms_are_in_order() {
        assert!(IRREGULAR.is_sorted_by_key(|(form, _)| *form));
    }

    #[test]
    fn other_words_are_left_apart() {
        for (one, other) in
            [("string", "str"), ("need", "new"), ("status", "state"), ("this", "the"), ("bus", "but")]
        {
            assert_ne!(of(one), of(other));
        }
        for word in ["red", "h264s", "größes", "a", ""] {
            assert_eq!(of(word), word);
        }
    }
}
