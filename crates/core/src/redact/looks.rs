//! Values that look like a secret, as opposed to a type, a placeholder, code or a word of prose.

use crate::redact::keyword::{Keyword, Weight};
use crate::redact::kind::MARKER;
use crate::redact::value::MOST_BLANKS;
use crate::redact::{Kind, is_word};
use crate::text::search;
use crate::text::word_list::{Words, among};

/// The notation of a value behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Within quotes, or between the tags of an element.
    Quoted,
    /// `name=value`.
    Tight,
    /// `name: value`, `name = value`.
    Spaced,
    /// `--name value`.
    Flag,
    /// `the password is value`.
    Prose,
}

/// Words in the place of a value that are not one.
static NO_VALUE: Words = "null none nil undefined true false yes no on off string str text number int integer boolean bool \
    object any void never unknown required optional missing invalid expired hidden masked redacted omitted removed empty \
    default example sample placeholder dummy fake changeme todo tbd n/a na secret secrets password passwd passphrase token \
    key value values credential credentials inherit self this args env option options flag argument field prompt the and \
    for with from when then that this your encrypted plaintext incorrect correct wrong weak strong needed stored set unset \
    bytes char varchar buffer float double stdin getpass keyring vault prompted provided generated updated changed rejected \
    accepted protected mismatch unchanged hashed nullable sensitive input output entered matches valid failed success \
    enabled disabled forgotten reset ok done nothing always ignored deprecated random unused blank \
    passwort kennwort erforderlich pflichtfeld vergessen falsch richtig ungültig geändert ändern zurücksetzen leer keins sicher \
    unsicher verschlüsselt clave contraseña contrasena requerida requerido obligatoria obligatorio incorrecta incorrecto \
    inválida inválido olvidada cambiada vacía ninguna segura seguro débil valor texto cadena nueva opcional";

/// Names of types and algorithms that have digits in them.
static NAMED: Words = "sha1 sha224 sha256 sha384 sha512 md5 base64 base32 base58 base64url hs256 hs384 hs512 rs256 rs512 es256 es384 \
    ps256 utf8 utf16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 oauth oauth1 oauth2 bcrypt argon2 \
    argon2i argon2id scrypt pbkdf2 aes128 aes192 aes256 ed25519 x25519 secp256k1 http1 http2 http3 ipv4 ipv6 uuid4 uuidv4 \
    uuidv7 i18n l10n k8s a11y x509 pkcs1 pkcs8 pkcs12 latin1 v1 v2 v3 v4 tls12 tls13 ecdsa256 nist800 cl100k";

/// The classes of bytes in a value.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a list of things that can be in a value")]
struct Has {
    digit: bool,
    small: bool,
    capital: bool,
    /// A byte that words and paths do not have.
    sign: bool,
    blank: bool,
    foreign: bool,
}

impl Has {
    fn of(text: &str) -> Has {
        let mut has = Has::default();
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => has.digit = true,
                b'a'..=b'z' => has.small = true,
                b'A'..=b'Z' => has.capital = true,
                b' ' | b'\t' => has.blank = true,
                b'_' | b'-' | b'.' | b'/' | b':' | b'\'' => {}
                128.. => has.foreign = true,
                _ => has.sign = true,
            }
        }
        has
    }

    fn letter(self) -> bool {
        self.small || self.capital
    }
}

/// The text is the value of a secret. `rest` follows it.
pub(super) fn like_a_secret(text: &str, keyword: Keyword, style: Style, rest: &[u8]) -> bool {
    let quoted = style == Style::Quoted;
    let sure = keyword.weight == Weight::Sure;
    // Cheap and frequent checks first.
    if text.len() < 4 || (!quoted && is_code(text, keyword, style, rest.first().copied())) {
        return false;
    }
    let has = Has::of(if sure { text } else { text.trim_end_matches('!') });
    if !(has.digit || has.letter()) || (!quoted && has.foreign && !(sure && has.digit)) {
        return false;
    }
    if text.contains(MARKER) || is_placeholder(text) || is_address(text, keyword.kind) {
        return false;
    }
    if has.foreign && is_rule(text) {
        return false;
    }
    if has.blank {
        return quoted && sure && is_phrase(text, keyword, has.digit);
    }
    if is_measure(text, sure) || (text.len() < 16 && text.split(['-', '_', '.']).all(is_term)) {
        return has.digit && !has.letter() && sure && text.bytes().all(|b| b.is_ascii_digit());
    }
    match keyword.weight {
        _ if style == Style::Prose => {
            text.len() >= 6
                && has.digit
                && has.letter()
                && (!is_name(text) || sure && has_number_behind(text))
                || text.len() >= 8 && has.small && has.capital && !is_wordy(text)
        }
        Weight::Sure if !has.letter() && !has.foreign => !text.contains(['.', ':', '/', '-']),
        Weight::Sure if has.digit || has.sign => {
            (text.len() >= 6 || style != Style::Spaced || ends_line(rest))
                && !(has.sign && text.split(['|', '=', '?', '&']).all(is_placeholder))
        }
        Weight::Sure => is_password_of_letters(text, keyword, style, rest),
        Weight::Likely if has.foreign => false,
        Weight::Likely if has.digit && has.letter() => {
            text.len() >= if quoted { 6 } else { 8 } && !is_name(text)
        }
        Weight::Likely if has.digit => text.len() >= 16 && text.bytes().all(|b| b.is_ascii_digit()),
        // `SECRET_KEY=…` of letters, as a shell reads it: no name in it, and not `givenValue`.
        Weight::Likely
            if keyword.capitals
                && style == Style::Tight
                && text.len() >= 12
                && text.bytes().all(|byte| byte.is_ascii_lowercase()) =>
        {
            matches!(keyword.kind, Kind::Secret | Kind::ApiKey) && ends_line(rest) && !is_own_name(text)
        }
        Weight::Likely => {
            has.small && has.capital && (has.sign || text.len() >= 32) && text.len() >= 16
                || has.small && has.capital && text.len() >= 12 && !is_wordy(text)
                || has.sign && quoted && text.len() >= 8 && !text.ends_with(['!', '?'])
        }
        Weight::Doubtful => {
            let password = keyword.kind == Kind::Password;
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            let mixed = has.capital && has.small || has.sign || password && digits >= 3;
            has.digit
                && has.letter()
                && mixed
                && text.len() >= if password { 8 } else { 20 }
                && !is_name(text)
        }
    }
}

/// A rule about the length of passwords, in another script.
fn is_rule(text: &str) -> bool {
    ["文字", "桁", "以上", "以内", "以下", "字符", "位", "자리", "이상", "글자"]
        .iter()
        .any(|word| text.contains(word))
}

/// Letters, and signs that join words, that are a password: in quotes, in a form that neither code nor prose has, or unlike
/// any word.
fn is_password_of_letters(text: &str, keyword: Keyword, style: Style, rest: &[u8]) -> bool {
    let wordy = is_wordy(text);
    if wordy && is_own_name(text) {
        return false;
    }
    match style {
        Style::Quoted => text.is_ascii() && !text.contains(['/', ':']),
        Style::Flag => text.len() >= 6 && !text.ends_with(['.', ':', ',']),
        Style::Tight if keyword.capitals => true,
        // `login(user, password=value, retry=no)`.
        Style::Tight => {
            let argument = matches!(rest, [b')' | b'.' | b'[' | b'?', ..] | [b',', b' ' | b'\n' | b'\r', ..]);
            text.len() >= 6 && !argument && !text.contains(['_', '.', '/', ':'])
        }
        Style::Spaced if !wordy => text.len() >= 8,
        // A last word on its line, not `givenValue` and not `given_value`.
        Style::Spaced => {
            let inner = text.as_bytes().iter().skip(1);
            text.len() >= 6
                && ends_line(rest)
                && inner.copied().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        }
        Style::Prose => false,
    }
}

/// Nothing else follows on the line, or in the quotes around it.
pub(super) fn ends_line(rest: &[u8]) -> bool {
    let blanks = rest.iter().take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match &rest[blanks..] {
        [] | [b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'#' | 0xe3.., ..] => true,
        [b'\\', next, ..] => matches!(next, b'n' | b'r' | b'"' | b'\\'),
        _ => false,
    }
}

/// Digits, and letters in both cases or a sign.
pub(super) fn is_mixed(text: &str) -> bool {
    let has = Has::of(text);
    has.digit && (has.small && has.capital || has.sign && has.letter())
}

/// Letters that make up words that could be pronounced, such as those of `parseJSONValue`: the case does not alternate, and
/// not all are consonants.
pub(super) fn is_wordy(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut alone, mut length, mut consonants, mut longest, mut capitals) = (0, 0, 0, 0, 0);
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphabetic() {
            length += 1;
            capitals += usize::from(byte.is_ascii_uppercase());
            let vowel = matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
            consonants = if vowel { 0 } else { consonants + 1 };
            longest = consonants.max(longest);
        }
        let ends = match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
            (_, None, _) => true,
            (_, Some(next), _) if !next.is_ascii_alphabetic() => true,
            (b'a'..=b'z', Some(b'A'..=b'Z'), _) | (b'A'..=b'Z', Some(b'A'..=b'Z'), Some(b'a'..=b'z')) => true,
            _ => false,
        };
        if !ends || length == 0 {
            continue;
        }
        let acronym = capitals == length && length <= 6;
        alone += usize::from(length == 1);
        if alone > 1 || longest > 5 && !acronym {
            return false;
        }
        (length, consonants, longest, capitals) = (0, 0, 0, 0);
    }
    true
}

/// A text that is written in place of a value.
pub(super) fn is_placeholder(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return true };
    let second = bytes.get(1).copied().unwrap_or_default();
    match first {
        b'$' | b'<' | b'{' | b'[' | b'(' => return true,
        b'%' if second.is_ascii_alphabetic() && !second.is_ascii_hexdigit()
            || matches!(second, b'(' | b'{') =>
        {
            return true;
        }
        _ => {}
    }
    if text.starts_with("...") || text.starts_with('…') || text.starts_with("•") {
        return true;
    }
    // Mostly filled up: `xxxx-xxxx`, `****1234`.
    let filled = bytes
        .iter()
        .filter(|byte| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'#' | b'?' | b'-' | b'_'))
        .count();
    if bytes.iter().all(|byte| byte == first) && !first.is_ascii_digit() || filled * 2 > bytes.len() {
        return true;
    }
    let small = text.to_ascii_lowercase();
    let plain = small.trim_matches(|c: char| !c.is_alphanumeric());
    if among(NO_VALUE, plain) || plain.is_empty() {
        return true;
    }
    let words = ["your", "example", "placeholder", "dummy", "changeme", "replace", "insert", "redacted"];
    if small.split(['-', '_', ' ', '.', '<', '>']).any(|part| words.contains(&part)) {
        return true;
    }
    let code = ["${", "$(", "{{", "#{", "process.env", "os.environ", "getenv", "env!(", "secrets.", "env."];
    code.iter().any(|start| small.contains(start)) || has_template(bytes)
}

/// It has a `{name}` in it.
fn has_template(bytes: &[u8]) -> bool {
    let mut from = 0;
    while let Some(open) = search::first(&bytes[from..], b'{').map(|at| from + at) {
        let name = bytes[open + 1..].iter().take_while(|b| is_word(**b) || matches!(b, b'.' | b':')).count();
        from = open + 1 + name;
        if bytes.get(from) == Some(&b'}') {
            return true;
        }
    }
    false
}

/// A path or a URL.
fn is_address(text: &str, kind: Kind) -> bool {
    let path = ["/", "./", "../", "~/", "~\\", "@/"].iter().any(|start| text.starts_with(start));
    let signs = text.contains(['+', '=', '!', '#', '$', '%', '^', '&', '*']);
    let file = [
        ".pem", ".key", ".json", ".txt", ".env", ".yaml", ".yml", ".toml", ".rs", ".ts", ".js", ".py", ".go",
        ".md",
    ];
    text.contains("://")
        || (path && !signs && !(kind == Kind::AwsSecretKey && text.len() == 40))
        || (text.as_bytes().get(1..3) == Some(b":\\"))
        || file.iter().any(|end| text.ends_with(end))
        || text.starts_with("arn:")
}

/// Unquoted text that is an expression. Behind a variable of a shell it is not.
fn is_code(text: &str, keyword: Keyword, style: Style, next: Option<u8>) -> bool {
    let bytes = text.as_bytes();
    let of_shell = style == Style::Flag || (style == Style::Tight && keyword.capitals);
    let leads = matches!(bytes[0], b'&' | b'*' | b'!' | b'@' | b'|' | b'?' | b'.');
    if matches!(next, Some(b'(' | b'<' | b'{' | b'[')) || (leads && (!of_shell || bytes[0] == b'|')) {
        return true;
    }
    let is_start = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let is_identifier = |part: &str| {
        part.as_bytes().first().is_some_and(is_start)
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if text.contains("::") || text.contains("->") || text.contains("=>") {
        return true;
    }
    // `load()`, `self.load()`, `Some(x)`.
    if let Some((name, _)) = text.split_once(['(', '{'])
        && (keyword.weight != Weight::Sure
            || name.split(['.', '!', '?']).all(|part| part.is_empty() || is_identifier(part)))
    {
        return true;
    }
    // `self.token`, `parts[1]`.
    let parted = text.contains('.')
        && text.split('.').all(|part| is_identifier(part.trim_end_matches('?')) && part.len() < 24);
    let indexed = text.split_once('[').is_some_and(|(name, _)| is_identifier(name));
    !of_shell && (parted || indexed)
}

/// Words of sentences about passwords.
static ABOUT: Words = "a an the is are be must should may at least than more your you enter type please with of to for not no \
    character characters letters digits required forgot reset change new old";

/// Text with blanks that is a password, not a sentence about one.
fn is_phrase(text: &str, keyword: Keyword, digit: bool) -> bool {
    let words = text.split_whitespace().count();
    let about = |word: &str| among(ABOUT, &word.to_ascii_lowercase());
    (keyword.phrase && words > 2 || keyword.capitals || digit)
        && words <= 24
        && text.is_ascii()
        && !is_own_name(text)
        && !text.ends_with(['.', '?', ':'])
        && !text.split_whitespace().any(about)
}

/// The value repeats the name: `"password": "Password"`, `password = my_password`.
fn is_own_name(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    ["pass", "pwd", "secret", "token", "credential"].iter().any(|word| small.contains(word))
}

/// Units that could follow the number of a password's characters or of its age.
static UNITS: Words =
    "b k m g t kb mb gb tb kib mib gib s ms us ns h d w y th st nd rd x px em pt pc hz am pm min sec hrs";

/// A number with a unit, a version or a time. Behind a name that is `sure` the unit has to be a known one.
fn is_measure(text: &str, sure: bool) -> bool {
    let bytes = text.strip_prefix(['v', 'V']).unwrap_or(text).as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &bytes[digits..];
    let unit =
        digits > 0 && rest.len() <= 3 && digits + rest.len() < 10 && rest.iter().all(u8::is_ascii_alphabetic);
    let known = |rest: &[u8]| {
        std::str::from_utf8(rest)
            .is_ok_and(|unit| unit.is_empty() || among(UNITS, &unit.to_ascii_lowercase()))
    };
    let dated =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b'T' | b'Z' | b'/' | b',');
    let version = bytes.contains(&b'.') || bytes.contains(&b'-') || bytes.contains(&b':');
    (unit && (!sure || known(rest))) || (digits > 0 && version && bytes.iter().all(dated))
}

/// Letters only, a short number, or the name of a type or an algorithm.
fn is_term(part: &str) -> bool {
    let named = among(NAMED, &part.to_ascii_lowercase());
    let typed = part.strip_prefix(['u', 'i', 'f']).is_some_and(|bits| among("8 16 32 64 128", bits));
    named || typed
}

/// Words before numbers in sentences about passwords.
static NUMBERED: Words =
    "rfc iso cve nist din step phase section ticket task issue version release chapter page line option";

/// A word in small letters and a number, `tulip_9931`, but not the name of something: `sha-256`, `step-12`.
fn has_number_behind(text: &str) -> bool {
    let Some((word, number)) = text.rsplit_once(['-', '_', '.']) else { return false };
    let small = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let fits = number.len() >= 2
        && word.len() >= 3
        && small(word)
        && number.bytes().all(|byte| byte.is_ascii_digit());
    fits && !among(NUMBERED, word) && !is_term(&[word, number].concat())
}

/// Made of words: `prod-db-secret-v2`, `end_of_text`, `token1`.
fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        part.is_empty()
            || is_term(part)
            || (letters.bytes().all(|byte| byte.is_ascii_lowercase()) && digits <= 2 && letters.len() < 16)
            || (letters.bytes().all(|byte| byte.is_ascii_uppercase())
                && letters.len() < 16
                && digits <= if letters.len() > 2 { 4 } else { 1 })
            || (letters.is_empty() && digits <= 4)
    };
    let parted =
        text.contains(['-', '_', '.', ':', '/']) && text.split(['-', '_', '.', ':', '/']).all(is_part);
    parted || (is_own_name(text) && is_part(&text.to_ascii_lowercase()))
}
