//! FNV-1a: the same in every process and version. Names on disk, ids and trained parameters rest on it.

/// The hash of no bytes.
pub const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of these bytes.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    extend_hash(START, bytes)
}

/// Continues a hash with more bytes.
pub fn extend_hash(hash: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// With 32 bits: enough to count, and can be made when the program is compiled.
pub const fn hash_short(bytes: &[u8]) -> u32 {
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values() {
        assert_eq!(
            [hash_short(b""), hash_short(b"a"), hash_short(b"foobar")],
            [0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968]
        );
        for (text, value) in
            [("", 0xcbf2_9ce4_8422_2325_u64), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(hash(text.bytes()), value, "{text}");
            let (first, rest) = text.split_at(text.len() / 2);
            assert_eq!(extend_hash(hash(first.bytes()), rest.bytes()), value, "{text}");
        }
    }
}
