//! FNV-1a with 64 bits: the same in every process and version. Names on disk, ids and trained parameters rest on it.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values() {
        for (text, value) in
            [("", 0xcbf2_9ce4_8422_2325_u64), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(hash(text.bytes()), value, "{text}");
            let (first, rest) = text.split_at(text.len() / 2);
            assert_eq!(extend_hash(hash(first.bytes()), rest.bytes()), value, "{text}");
        }
    }
}
