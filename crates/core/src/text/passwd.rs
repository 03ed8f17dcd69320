//! Home directories from the user database of Unix systems (`/etc/passwd`), whatever variables say.

/// The home of a user, if it is an absolute path. The first line about the user counts, as for the system.
pub fn home_of(user: u32, database: &[u8]) -> Option<&str> {
    let fields = |line| -> Option<(u32, &str)> {
        // Names and descriptions of others need not be UTF-8.
        let mut fields = <[u8]>::split(line, |byte| *byte == b':').skip(2);
        let user = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let home = std::str::from_utf8(fields.nth(2)?).ok()?;
        // A line without a shell after it was cut off.
        fields.next().map(|_| (user, home))
    };
    let mut lines = database.split(|byte| *byte == b'\n').filter_map(fields);
    lines.find(|(known, _)| *known == user).map(|(_, home)| home).filter(|home| home.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DATABASE: &[u8] = b"root:x:0:0:root:/root:/bin/bash\n\n# a comment\nbroken:x:7\ncut:x:8:8::/h\n\
        odd:x:9:9:\xff\xfe:/home/odd:/bin/sh\nnone:x:10:10:::\nrelative:x:11:11::home:/bin/sh\n\
        first:x:12:12::/home/first:\nsecond:x:12:12::/home/second:\nlast:x:13:13::/home/last:/bin/sh";

    #[test]
    fn a_home_is_found_by_the_users_number() {
        for (user, home) in [
            (0, Some("/root")),
            (9, Some("/home/odd")),
            (12, Some("/home/first")),
            (13, Some("/home/last")),
            (7, None),
            (8, None),
            (10, None),
            (11, None),
            (99, None),
        ] {
            assert_eq!(home_of(user, DATABASE), home, "{user}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), user in 0u32..4) {
            let home = home_of(user, &bytes);
            prop_assert!(home.is_none_or(|home| home.starts_with('/')));
        }

        #[test]
        fn any_lines_are_read(text in "([0-3]|:|/|x|\\n){0,60}", user in 0u32..4) {
            let home = home_of(user, text.as_bytes());
            prop_assert!(home.is_none_or(|home| home.starts_with('/') && text.contains(home)));
        }
    }
}
