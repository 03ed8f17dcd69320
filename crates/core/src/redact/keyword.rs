//! Names whose values are secrets: `password`, `apiKey`, `AWS_SECRET_ACCESS_KEY`, `パスワード`.

use super::Kind;
use crate::search;
use crate::shell::{Words, among, each};

/// How much a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Whatever it is, it is a secret: `password`.
    Sure,
    /// It may be one, or the name of one: `secret`, `token`, `api_key`.
    Likely,
    /// Only if it looks like nothing else: `auth`, `pass`.
    Doubtful,
}

/// What a name says.
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

/// The last word of names that hold no secret but something about one.
static ABOUT: Words = "id ids name names path paths file files filename dir folder url uri urls type types kind length len \
    count counts ref refs field fields label labels hint policy arn version size min max ttl expiry expires expiration at in \
    on enabled disabled required optional provider manager prompt placeholder pattern regex rule rules strength reset \
    change changed changes input box form page env var variable variables store storage index format prefix suffix limit \
    limits usage budget used left endpoint status state error errors message title text description algorithm alg scope \
    scopes passwords secrets tokens keys source mode class style test tests spec helper handler middleware service column \
    table schema validator check checks is has valid visible changedat updated created by owner user users";

/// What a key is called that lets somebody in.
static KEYS: Words = "apikey accesskey authkey encryptionkey signingkey masterkey sharedkey servicekey sessionkey appkey \
    servicerolekey deploykey secretkey clientkey clientkeydata storagekey licensekey";

/// What a name says about its value, if it is one of a secret.
pub(super) fn of(name: &[u8]) -> Option<Keyword> {
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
    let holds = |word: &str| search::find(all, word.as_bytes()).is_some();
    let ends = |word: &str| all.ends_with(word.as_bytes());
    let last = std::str::from_utf8(&all[last..]).unwrap_or_default();
    // Most names have none of these pairs of letters.
    if !all.windows(2).any(|pair| matches!(pair, b"pa" | b"wd" | b"se" | b"cr" | b"ke" | b"au" | b"gn")) {
        return None;
    }
    if among(ABOUT, last) {
        return None;
    }
    let capitals = !small && length > 0;
    let word = |kind, weight| Some(Keyword { kind, weight, phrase: false, capitals });
    if holds("passphrase") {
        return Some(Keyword { kind: Kind::Password, weight: Weight::Sure, phrase: true, capitals });
    }
    if ["password", "passwd", "passcode", "passwort"].iter().any(|word| holds(word)) {
        return word(Kind::Password, Weight::Sure);
    }
    // `PWD` is the working folder.
    if last == "pwd" && !matches!(all, b"pwd" | b"oldpwd") || (all == b"pwd" && small) {
        return word(Kind::Password, Weight::Likely);
    }
    if last == "pass" || ends("userpass") || ends("dbpass") {
        return word(Kind::Password, if capitals { Weight::Likely } else { Weight::Doubtful });
    }
    if holds("secretaccesskey") || holds("awssecret") {
        return word(Kind::AwsSecretKey, Weight::Likely);
    }
    if ends("accountkey") || ends("sharedaccesskey") {
        return word(Kind::AzureStorageKey, Weight::Likely);
    }
    if holds("heroku") && (ends("key") || ends("token")) {
        return word(Kind::HerokuKey, Weight::Likely);
    }
    if (holds("cloudflare") || holds("cfapi")) && (ends("key") || ends("token")) {
        return word(Kind::CloudflareToken, Weight::Likely);
    }
    if matches!(all, b"xamzsignature" | b"xgoogsignature") {
        return word(Kind::SignedUrl, Weight::Likely);
    }
    if each(KEYS).any(ends) {
        return word(Kind::ApiKey, Weight::Likely);
    }
    if holds("secret") || holds("credential") || ends("privatekey") {
        return word(Kind::Secret, Weight::Likely);
    }
    if ends("token") {
        return word(Kind::Token, Weight::Likely);
    }
    if last == "auth" {
        return word(Kind::ApiKey, Weight::Doubtful);
    }
    None
}

/// Japanese words, which have no end of their own.
static JAPANESE: [(&str, Kind); 11] = [
    ("パスワード", Kind::Password),
    ("パスフレーズ", Kind::Password),
    ("パスコード", Kind::Password),
    ("暗証番号", Kind::Password),
    ("秘密鍵", Kind::Secret),
    ("秘密", Kind::Secret),
    ("シークレット", Kind::Secret),
    ("認証情報", Kind::Secret),
    ("トークン", Kind::Token),
    ("キー", Kind::ApiKey),
    ("鍵", Kind::ApiKey),
];

/// What the Japanese word says that a text ends with.
pub(super) fn japanese(before: &[u8]) -> Option<Keyword> {
    let (_, kind) = JAPANESE.iter().find(|(word, _)| before.ends_with(word.as_bytes()))?;
    let weight = if *kind == Kind::Password { Weight::Sure } else { Weight::Likely };
    Some(Keyword { kind: *kind, weight, phrase: false, capitals: false })
}
