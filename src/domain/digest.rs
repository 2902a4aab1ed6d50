//! One number for many texts, the same in every process and every release.

/// Returns a number that tells sequences of texts apart (FNV-1a, 128 bits). Each text's length goes in before it, so that
/// no two sequences are the same bytes, whatever characters they hold.
///
/// It is no defence against somebody who looks for two sequences with one number.
#[must_use]
pub fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let step = |digest: u128, byte: u8| (digest ^ u128::from(byte)).wrapping_mul(PRIME);
    texts.into_iter().fold(OFFSET, |digest, text| {
        let digest = text.len().to_le_bytes().into_iter().fold(digest, step);
        text.bytes().fold(digest, step)
    })
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn texts_are_told_apart_by_where_they_end() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_ne!(digest(["", "a"]), digest(["a", ""]));
        assert_ne!(digest(["a"]), digest(["a", ""]));
        assert_eq!(digest(["a", "é"]), digest(["a", "é"]));
    }

    #[test]
    fn the_number_is_the_same_in_every_process() {
        assert_eq!(digest([]), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    }
}
