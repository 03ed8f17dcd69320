//! The beginning of an id that tells it from others in a list.

/// Of a random id.
const RANDOM: usize = 8;
/// Of one that begins with the time (UUID version 7): its first 8 characters are the same for a minute.
const TIMED: usize = 13;

/// With the name of a host (`codex.`) and a prefix such as `msg_`, if it has them.
pub fn short_id(id: &str) -> &str {
    let is_name = |at: &usize| id[..*at].bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let named = id.find('.').filter(is_name).map_or(0, |at| at + 1);
    let is_prefix = |at: &usize| *at <= 4 && id[named..named + at].bytes().all(|b| b.is_ascii_lowercase());
    let start = named + id[named..].find('_').filter(is_prefix).map_or(0, |at| at + 1);
    let is_timed = id.len() - start == 36 && id.as_bytes()[start + 14] == b'7';
    let length = if is_timed { TIMED } else { RANDOM };
    let end = id[start..].char_indices().nth(length).map_or(id.len(), |(at, _)| start + at);
    &id[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_same_minute_differ() {
        for (id, short) in [
            ("91b38a40-3ead-4aa8-8407-24d36ddad7be", "91b38a40"),
            ("01a1c3f2-7b1e-7abc-9def-0123456789ab", "01a1c3f2-7b1e"),
            ("msg_01a1c3f2-7b1e-7abc-9def-0123456789ab", "msg_01a1c3f2-7b1e"),
            ("ses_4f3a9b1c2ffeAbCdEfGhIjKlMn", "ses_4f3a9b1c"),
            ("5e55-copilot", "5e55-cop"),
            ("codex.01a1c3f2-7b1e-7abc-9def-0123456789ab", "codex.01a1c3f2-7b1e"),
            ("opencode.ses_4f3a9b1c2ffeAbCdEfGhIjKlMn", "opencode.ses_4f3a9b1c"),
            ("not_a_prefix_of_a_kind", "not_a_prefix"),
            ("日本語のセッションの名前", "日本語のセッショ"),
            ("s1", "s1"),
            ("", ""),
        ] {
            assert_eq!(short_id(id), short);
        }
    }
}
