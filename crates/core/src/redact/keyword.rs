//! Names whose values are secrets: `password`, `apiKey`, `AWS_SECRET_ACCESS_KEY`, `パスワード`, `密码`.

use crate::redact::Kind;
use crate::text::search;
use crate::text::word_list::{Words, among, each_word};

/// The certainty that a value behind this name is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Any value is a secret: `password`.
    Sure,
    /// It may be one, or the name of one: `secret`, `token`, `api_key`.
    Likely,
    /// Only if it looks like nothing else: `auth`, `pass`.
    Doubtful,
}

/// A name of secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keyword {
    pub(super) kind: Kind,
    pub(super) weight: Weight,
    /// The value may have blanks in it.
    pub(super) phrase: bool,
    /// Written as the names of variables are: `DB_PASSWORD`.
    pub(super) capitals: bool,
}

/// Longer names are looked at from their end.
pub(super) const LONGEST: usize = 64;

/// The last word of names for something about a secret, not for the secret itself.
static ABOUT: Words = "id ids name names path paths file files filename dir folder url uri urls type types kind length len \
    count counts ref refs field fields label labels hint policy arn version size min max ttl expiry expires expiration at in \
    on enabled disabled required optional provider manager prompt placeholder pattern regex rule rules strength reset \
    change changed changes input box form page env var variable variables store storage index format prefix suffix limit \
    limits usage budget used left endpoint status state error errors message title text description algorithm alg scope \
    scopes passwords secrets tokens keys source mode class style test tests spec helper handler middleware service column \
    table schema validator check checks is has valid visible changedat updated created by owner user users";

/// Names of keys that grant access.
static KEYS: Words = "apikey accesskey authkey encryptionkey signingkey masterkey sharedkey servicekey sessionkey appkey \
    servicerolekey deploykey secretkey clientkey clientkeydata storagekey licensekey subscriptionkey functionskey";

/// Short names of passwords behind the name of their service.
static PASSES: Words = "dbpass userpass mysqlpass pgpass postgrespass redispass mongopass rabbitmqpass smtppass mailpass \
    emailpass adminpass rootpass ftppass sshpass sudopass authpass loginpass proxypass httppass basicpass keypass \
    storepass keystorepass truststorepass certpass vaultpass";

/// Reads a name; `None` if its values are not secrets.
pub(super) fn read_name(name: &[u8]) -> Option<Keyword> {
    let name = &name[name.len().saturating_sub(LONGEST)..];
    let mut letters = [0; LONGEST];
    let (mut length, mut last) = (0, 0);
    let (mut small, mut before) = (false, b'_');
    for byte in name {
        if byte.is_ascii_alphanumeric() {
            // Words begin behind a sign and at a capital letter.
            if !before.is_ascii_alphanumeric() || (before.is_ascii_lowercase() && byte.is_ascii_uppercase()) {
                last = length;
            }
            small |= byte.is_ascii_lowercase();
            letters[length] = byte.to_ascii_lowercase();
            length += 1;
        }
        before = *byte;
    }
    let all = &letters[..length];
    let last = std::str::from_utf8(&all[last..]).unwrap_or_default();
    let capitals = !small && length > 0;
    let (kind, weight) = read_lower_name(all, last, capitals)?;
    let phrase = kind == Kind::Password && holds(all, "passphrase");
    (!among(ABOUT, last)).then_some(Keyword { kind, weight, phrase, capitals })
}

fn holds(name: &[u8], word: &str) -> bool {
    search::find(name, word.as_bytes()).is_some()
}

/// Reads a name in small letters. Most names are none of secrets, so its words are looked for by their first letters in one
/// go, and its ends by their last letter.
fn read_lower_name(name: &[u8], last: &str, capitals: bool) -> Option<(Kind, Weight)> {
    let (mut password, mut secret, mut heroku, mut cloudflare) = (false, false, false, false);
    for (at, byte) in name.iter().enumerate() {
        let rest = &name[at..];
        match byte {
            b'p' => {
                password |= ["password", "passwd", "passphrase", "passcode", "passwort"]
                    .iter()
                    .any(|word| rest.starts_with(word.as_bytes()));
            }
            b's' => secret |= rest.starts_with(b"secret"),
            b'c' => {
                secret |= rest.starts_with(b"credential");
                cloudflare |= rest.starts_with(b"cloudflare") || rest.starts_with(b"cfapi");
            }
            b'h' => heroku |= rest.starts_with(b"heroku"),
            _ => {}
        }
    }
    if password {
        return Some((Kind::Password, Weight::Sure));
    }
    let ends = |word: &str| name.ends_with(word.as_bytes());
    if secret && (holds(name, "secretaccesskey") || holds(name, "awssecret")) {
        return Some((Kind::AwsSecretKey, Weight::Likely));
    }
    let of_ending = match name.last()? {
        // `PWD` is the working folder, and `pwd` may be.
        b'd' if last == "pwd" && name == b"pwd" => (!capitals).then_some((Kind::Password, Weight::Likely)),
        b'd' if ends("dbpwd") || last == "pwd" && name != b"oldpwd" => Some((Kind::Password, Weight::Sure)),
        b'w' if last == "pw" || ends("dbpw") => {
            Some((Kind::Password, if name.len() == 2 { Weight::Likely } else { Weight::Sure }))
        }
        // The lines of a key follow.
        b's' if ends("privatelines") => Some((Kind::SshPrivateKey, Weight::Likely)),
        b's' if ends("pass") && each_word(PASSES).any(ends) => Some((Kind::Password, Weight::Sure)),
        b's' if last == "pass" => {
            Some((Kind::Password, if capitals { Weight::Likely } else { Weight::Doubtful }))
        }
        b'y' | b'n' if heroku && (ends("key") || ends("token")) => Some((Kind::HerokuKey, Weight::Likely)),
        b'y' | b'n' if cloudflare && (ends("key") || ends("token")) => {
            Some((Kind::CloudflareToken, Weight::Likely))
        }
        b'y' if ends("accountkey") || ends("sharedaccesskey") => {
            Some((Kind::AzureStorageKey, Weight::Likely))
        }
        b'y' if ends("privatekey") => Some((Kind::Secret, Weight::Likely)),
        b'y' | b'a' if (ends("key") || ends("data")) && each_word(KEYS).any(ends) => {
            Some((Kind::ApiKey, Weight::Likely))
        }
        b't' if ends("kennwort") => Some((Kind::Password, Weight::Sure)),
        b'a' if ends("contrasena") => Some((Kind::Password, Weight::Sure)),
        b'e' if last == "clave" => Some((Kind::Password, Weight::Likely)),
        b'e' if matches!(name, b"xamzsignature" | b"xgoogsignature") => {
            Some((Kind::SignedUrl, Weight::Likely))
        }
        b'n' if ends("token") && !secret => Some((Kind::Token, Weight::Likely)),
        b'h' if last == "auth" => Some((Kind::ApiKey, Weight::Doubtful)),
        _ => None,
    };
    of_ending.or_else(|| secret.then_some((Kind::Secret, Weight::Likely)))
}

/// Words that are not of ASCII letters alone, also as they are written in full or half width; those with the same end together.
static FOREIGN: [(&str, Kind, Weight); 34] = [
    ("パスワード", Kind::Password, Weight::Sure),
    ("パスコード", Kind::Password, Weight::Sure),
    ("パスフレーズ", Kind::Password, Weight::Sure),
    ("暗証番号", Kind::Password, Weight::Sure),
    ("秘密鍵", Kind::Secret, Weight::Likely),
    ("鍵", Kind::ApiKey, Weight::Likely),
    ("秘密", Kind::Secret, Weight::Likely),
    ("シークレット", Kind::Secret, Weight::Likely),
    ("認証情報", Kind::Secret, Weight::Likely),
    ("トークン", Kind::Token, Weight::Likely),
    ("キー", Kind::ApiKey, Weight::Likely),
    ("密码", Kind::Password, Weight::Sure),
    ("密碼", Kind::Password, Weight::Sure),
    ("口令", Kind::Password, Weight::Sure),
    ("密钥", Kind::ApiKey, Weight::Likely),
    ("密鑰", Kind::ApiKey, Weight::Likely),
    ("令牌", Kind::Token, Weight::Likely),
    ("비밀번호", Kind::Password, Weight::Sure),
    ("암호", Kind::Password, Weight::Likely),
    ("비번", Kind::Password, Weight::Sure),
    ("패스워드", Kind::Password, Weight::Sure),
    ("토큰", Kind::Token, Weight::Likely),
    ("ontraseña", Kind::Password, Weight::Sure),
    ("ONTRASEÑA", Kind::Password, Weight::Sure),
    ("chlüssel", Kind::ApiKey, Weight::Likely),
    ("ﾊﾟｽﾜｰﾄﾞ", Kind::Password, Weight::Sure),
    ("ﾊﾟｽｺｰﾄﾞ", Kind::Password, Weight::Sure),
    ("ﾄｰｸﾝ", Kind::Token, Weight::Likely),
    ("ｷｰ", Kind::ApiKey, Weight::Likely),
    ("ｐａｓｓｗｏｒｄ", Kind::Password, Weight::Sure),
    ("Ｐａｓｓｗｏｒｄ", Kind::Password, Weight::Sure),
    ("ＰＡＳＳＷＯＲＤ", Kind::Password, Weight::Sure),
    ("ｐｗ", Kind::Password, Weight::Likely),
    ("ＰＷ", Kind::Password, Weight::Likely),
];

/// Reads the word of another script at the end of a text. The last letter rules out most texts.
pub(super) fn read_foreign_name(before: &[u8]) -> Option<Keyword> {
    let with_end = match before.last_chunk()? {
        [0xe3, 0x83, 0x89] => 0..2,   // ド
        [0xe3, 0x82, 0xba] => 2..3,   // ズ
        [0xe5, 0x8f, 0xb7] => 3..4,   // 号
        [0xe9, 0x8d, 0xb5] => 4..6,   // 鍵
        [0xe5, 0xaf, 0x86] => 6..7,   // 密
        [0xe3, 0x83, 0x88] => 7..8,   // ト
        [0xe5, 0xa0, 0xb1] => 8..9,   // 報
        [0xe3, 0x83, 0xb3] => 9..10,  // ン
        [0xe3, 0x83, 0xbc] => 10..11, // ー
        [0xe7, 0xa0, 0x81] => 11..12, // 码
        [0xe7, 0xa2, 0xbc] => 12..13, // 碼
        [0xe4, 0xbb, 0xa4] => 13..14, // 令
        [0xe9, 0x92, 0xa5] => 14..15, // 钥
        [0xe9, 0x91, 0xb0] => 15..16, // 鑰
        [0xe7, 0x89, 0x8c] => 16..17, // 牌
        [0xed, 0x98, 0xb8] => 17..19, // 호
        [0xeb, 0xb2, 0x88] => 19..20, // 번
        [0xeb, 0x93, 0x9c] => 20..21, // 드
        [0xed, 0x81, 0xb0] => 21..22, // 큰
        [0xc3, 0xb1, 0x61] => 22..23, // ña
        [0xc3, 0x91, 0x41] => 23..24, // ÑA
        [0x73, 0x65, 0x6c] => 24..25, // sel
        [0xef, 0xbe, 0x9e] => 25..27, // ﾞ
        [0xef, 0xbe, 0x9d] => 27..28, // ﾝ
        [0xef, 0xbd, 0xb0] => 28..29, // ｰ
        [0xef, 0xbd, 0x84] => 29..31, // ｄ
        [0xef, 0xbc, 0xa4] => 31..32, // Ｄ
        [0xef, 0xbd, 0x97] => 32..33, // ｗ
        [0xef, 0xbc, 0xb7] => 33..34, // Ｗ
        _ => return None,
    };
    let (word, kind, weight) =
        FOREIGN[with_end].iter().find(|(word, ..)| before.ends_with(word.as_bytes()))?;
    Some(Keyword { kind: *kind, weight: *weight, phrase: *word == "パスフレーズ", capitals: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_foreign_word_is_found_by_its_end() {
        for (word, kind, _) in FOREIGN {
            assert_eq!(read_foreign_name(word.as_bytes()).map(|keyword| keyword.kind), Some(kind), "{word}");
        }
    }
}
