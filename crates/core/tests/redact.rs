//! Runs the tables of `src/redact/redact.md`, and holds the laws of redaction: what it does twice it does once, and what it
//! does not find it does not touch.

#[path = "redact/table.rs"]
mod table;

use std::borrow::Cow;
use std::fmt::Write as _;

use proptest::prelude::*;
use tidegate_core::redact::{Kind, redact};

fn short(text: &str) -> String {
    Kind::ALL.iter().fold(text.to_owned(), |text, kind| {
        text.replace(&format!("[redacted:{}]", kind.name()), &format!("⟦{}⟧", kind.name()))
    })
}

#[test]
fn every_row_of_every_table() {
    let mut wrong = String::new();
    let mut kinds: Vec<String> = Vec::new();
    for (number, row) in table::rows() {
        let (kind, text, result) = match row.as_slice() {
            [kind, text, result] => (Some(kind.clone()), text, result.clone()),
            [text] => (None, text, short(text)),
            _ => panic!("redact.md:{number}: {} columns", row.len()),
        };
        let is = redact(text);
        let named: Vec<&str> = is.found.iter().map(|(kind, _)| kind.name()).collect();
        let unchanged = text == &result;
        let kind: Vec<String> = kind.iter().flat_map(|kind| kind.split(", ")).map(str::to_owned).collect();
        let as_named = if unchanged { named.is_empty() } else { named == kind };
        if short(&is.text) != result || !as_named {
            writeln!(
                wrong,
                "redact.md:{number}\n  text:    {text}\n  written: {result}\n  is:      {} {named:?}",
                short(&is.text)
            )
            .unwrap();
        }
        if unchanged && !matches!(is.text, Cow::Borrowed(_)) {
            writeln!(wrong, "redact.md:{number}: copied without need").unwrap();
        }
        kinds.extend(kind);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    for kind in Kind::ALL {
        assert!(kinds.iter().any(|named| named == kind.name()), "no row for {}", kind.name());
    }
}

/// Pieces of which most rules are made.
const PIECES: &str = "password passphrase secret token api_key API\u{a0}key client_secret Authorization Cookie Set-Cookie sig パスワード 秘密 は ： ＝ 」 「 \
    = : => := == := \" ' ` \\\" \\\\\" \\n \\ < > </ [ ] ( ) { } , ; & | @ :// https:// / // . .. - -- ----- _ ~ $ ${ % %2 %20 + # ! ? … → \
    <private> </private> <PRIVATE x> <password> </password> -----BEGIN PRIVATE\u{a0}KEY----- -----END PRIVATE\u{a0}KEY----- \
    name value key - \u{a0}->\u{a0} → | \u{a0}|\u{a0} --- |---|---| user,password passwort contraseña 密码 是 改为 口令 비밀번호 는 を に “ ” „ « » \u{a0}to\u{a0} \u{a0}changed\u{a0}to\u{a0} \u{a0}lautet\u{a0} \u{a0}es\u{a0} \
    \u{a0}from\u{a0} \u{a0}von\u{a0} \u{a0}auf\u{a0} \u{a0}de\u{a0} \u{a0}a\u{a0} から 에서 从 改成 passwd AWS\u{a0}secret my-secret Schlüssel ﾊﾟｽﾜｰﾄﾞ ｐａｓｓｗｏｒｄ ＰＷ ﹕ \
    4111\u{a0}1111\u{a0}1111\u{a0}1111 4111111111111111 378282246310005 LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t MIIEpAIBAAKCAQEA scott/tiger@// sqlplus Bearer Basic curl -u --user sshpass mysql docker\u{a0}login -p -pass login\u{a0}me\u{a0}password IDENTIFIED\u{a0}BY さくら2024 Private-Lines: | \
    --password --token hunter2 abcd1234efgh x xxxx null is \u{a0}is\u{a0} AKIA AKIAA2A2A2A2A2A2A2A2 ghp_ glpat- sk- sk-ant- eyJ hf_ SG. ya29. hvs. 1//0 Q~ v1. \
    :AA 123456789 aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3 0af10af10af10af10af10af10af10af1 MIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIEMIIE= \
    [redacted:password] [redacted:token] [redacted:github_token] [redacted: redacted string &str é 日本 \u{1f511}";

fn pieces() -> impl Strategy<Value = String> {
    let known: Vec<String> =
        PIECES.split_whitespace_ascii().map(|piece| piece.replace('\u{a0}', " ")).collect();
    let piece = prop_oneof![
        8 => prop::sample::select(known),
        2 => Just(" ".to_owned()),
        1 => Just("\n".to_owned()),
        1 => "[a-zA-Z0-9_-]{1,40}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

trait SplitAscii {
    fn split_whitespace_ascii(&self) -> impl Iterator<Item = &str>;
}

impl SplitAscii for str {
    /// As `split_whitespace`, with the no-break space as a letter.
    fn split_whitespace_ascii(&self) -> impl Iterator<Item = &str> {
        self.split([' ', '\n']).filter(|piece| !piece.is_empty())
    }
}

fn marker_pieces(text: &str) -> Vec<String> {
    let mut rest = text.to_owned();
    for kind in Kind::ALL {
        rest = rest.replace(&format!("[redacted:{}]", kind.name()), "\u{0}");
    }
    rest.split('\u{0}').map(str::to_owned).collect()
}

fn holds_the_laws(text: &str) -> Result<(), TestCaseError> {
    let once = redact(text);
    let twice = redact(&once.text);
    prop_assert_eq!(&twice.text, &once.text, "of {:?}", text);
    prop_assert!(twice.found.is_empty());
    prop_assert_eq!(once.found.is_empty(), matches!(once.text, Cow::Borrowed(_)));
    // What is left of the text stands in it, in the same order.
    let parts = marker_pieces(&once.text);
    let mut rest = text;
    for part in &parts {
        let at = rest.find(part.as_str());
        prop_assert!(at.is_some(), "{:?} is not in {:?}", part, text);
        rest = &rest[at.unwrap_or_default() + part.len()..];
    }
    prop_assert!(text.starts_with(&parts[0]) && text.ends_with(&parts[parts.len() - 1]));
    Ok(())
}

/// Forms with a body that changes: what stands before, what follows, and whether it is found in the middle of a word.
fn secrets() -> impl Strategy<Value = (String, bool)> {
    let alnum = "[A-Z][a-z][0-9][A-Za-z0-9]{45}";
    let hex = "[0-9][0-9a-f]{63}";
    prop_oneof![
        (
            prop::sample::select(vec![
                "ghp_", "gho_", "npm_", "sk_live_", "glpat-", "xoxb-", "lin_api_", "sk-ant-", "sk-proj-"
            ]),
            alnum
        )
            .prop_map(|(prefix, body)| (format!("{prefix}{body}"), true)),
        (prop::sample::select(vec!["dop_v1_", "shpat_", "sk-or-v1-", "rubygems_"]), hex)
            .prop_map(|(prefix, body)| (format!("{prefix}{body}"), true)),
        (prop::sample::select(vec!["hf_", "ya29.", "hvs.", "r8_", "gsk_", "AIza", "sk-"]), alnum)
            .prop_map(|(prefix, body)| (format!("{prefix}{body}"), false)),
        "AKIA[A-Z2-7]{16}".prop_map(|key| (key, false)),
        "eyJ[A-Za-z0-9]{20}\\.eyJ[A-Za-z0-9_-]{20}\\.[A-Za-z0-9_-]{30}".prop_map(|token| (token, false)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn twice_is_once_and_the_rest_stays(text in pieces()) {
        holds_the_laws(&text)?;
    }

    #[test]
    fn any_text_is_taken(text in any::<String>()) {
        holds_the_laws(&text)?;
    }

    #[test]
    fn a_token_in_any_text_is_gone(
        before in pieces(),
        after in pieces(),
        (secret, anywhere) in secrets(),
    ) {
        let (open, close) = if anywhere { ("", "") } else { (" ", " ") };
        let text = format!("{before}{open}{secret}{close}{after}");
        let redacted = redact(&text);
        prop_assert!(!redacted.text.contains(&secret), "{} in {}", secret, text);
        prop_assert!(!redacted.found.is_empty());
    }

    #[test]
    fn a_password_behind_its_name_is_gone(
        name in prop::sample::select(vec!["password", "DB_PASSWORD", "dbPasswd", "client_secret", "api-key", "access_token", "パスワード"]),
        form in prop::sample::select(vec!["N=V", "N: V", "\"N\": \"V\"", "N = 'V'", "--N V", "\\\"N\\\":\\\"V\\\"", "<N>V</N>", "N => \"V\""]),
        value in "[a-z]{3}[0-9]{2}[A-Z]{2}[a-zA-Z0-9]{3,300}",
        (before, after) in ("[a-z .,]{0,20}[ \n]", "[ \n][a-z .,]{0,20}"),
    ) {
        let form = if name == "パスワード" && form.starts_with(['-', '<']) { "N：V" } else { form };
        let text = format!("{before}{}{after}", form.replace('N', name).replace('V', &value));
        let redacted = redact(&text);
        prop_assert!(!redacted.text.contains(&value), "{}", text);
        prop_assert_eq!(redacted.found.total(), 1);
    }

    #[test]
    fn a_password_in_a_sentence_or_a_table_is_gone(
        form in prop::sample::select(vec![
            "I changed the password to V today", "the password for the server: V", "Das Passwort lautet V", "Kennwort auf V geändert",
            "la contraseña es V", "cambié la contraseña a «V»", "パスワードを「V」に変更した", "パスワードは V です", "密码改为V。", "口令：V",
            "비밀번호는 V입니다", "비밀번호를 'V'로 변경", "password -> V", "password → V", "| password | V |", "|user|password|\n|---|---|\n|me|V|\n",
            "user,password\nme,V\n", "- name: DB_PASSWORD\n  value: V\n", "{\"value\":\"V\",\"name\":\"DB_PASSWORD\"}",
            "postgres://me:V/#?@db.local/x", "scott/V@//db",
        ]),
        value in "[a-z]{3}[0-9]{2}[A-Z]{2}[a-zA-Z0-9]{3,80}",
    ) {
        let text = form.replace('V', &value);
        prop_assert!(!redact(&text).text.contains(&value), "{}", text);
    }

    /// What a shell or a list of settings reads needs no digit.
    #[test]
    fn a_password_of_letters_is_gone(
        form in prop::sample::select(vec!["DB_PASSWORD=V", "--password=V", "-Dpassword=V", "password=V", "?a=b&password=V&c=d", "Server=x;Password=V;", "password: V\n", "\"password\": \"V\"", "sshpass -p V x", "mysql -pV", "login me password V\n"]),
        value in "[a-zA-Z]{8,40}",
    ) {
        let small = value.to_ascii_lowercase();
        prop_assume!(!["pass", "pwd", "secret", "token", "credential", "xx"].iter().any(|word| small.contains(word)));
        // `givenValue` behind a colon is code.
        let value = if form.ends_with('\n') { small } else { value };
        let text = form.replace('V', &value);
        prop_assert!(!redact(&text).text.contains(&value), "{}", text);
    }

    #[test]
    fn what_is_private_is_gone(before in "[^<]{0,20}", inside in pieces(), after in "[^<]{0,20}") {
        let inside = inside.replace("</", "");
        let text = format!("{before}<private>{inside} inmost</private>{after}");
        let redacted = redact(&text);
        prop_assert!(!redacted.text.contains("inmost"));
    }
}

/// Beginnings of findings that never come to anything, a quarter of a million bytes of each. What looked at the rest of the text for
/// every one of them would not end.
#[test]
fn a_long_text_without_an_end_ends() {
    let hostile = [
        "<private ",
        "</private>",
        "<private><",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----\n",
        "-----",
        "-",
        "password=",
        "password=\"",
        "password='\"",
        "password=a(",
        "secret=$x,",
        "secret: ",
        "token = ",
        "authorization:",
        "cookie:",
        "cookie:a=$",
        "cookie: a=b;",
        "https://a:",
        "://",
        "://a:b@",
        "curl -u a:$",
        "--password ",
        "--",
        "eyJa.",
        "eyJ",
        "AKIA",
        "ghp_",
        "aB3_",
        "SG.",
        "1//0",
        "Q~",
        ":AA",
        "password is ",
        "パスワードは",
        "パスワード：",
        "\\",
        "\\\"",
        "[redacted:",
        "{",
        "password={",
        "key ",
        "x ",
        " ",
        "password: &str ",
        "<password>",
        "Bearer ",
        "MIIE\n",
        "password:\n",
        "password: |\n  ",
        "password: |\\n ",
        "password: |\n  hunter2hunter2\\n  ",
        "パスワード：あ",
        "パスワード：あ1",
        "Private-Lines: 9999\nA\n",
        "Private-Lines: 9999\nAAAA\n",
        " -p",
        " -p x",
        "sshpass -p ",
        "mysql -p",
        "password ",
        "login a password ",
        "IDENTIFIED BY ",
        "name: password\n",
        "value: x\nname: password\n",
        "value: ",
        "name: ",
        "| password ",
        "| password | x |\n",
        "|---|\n",
        "| password |\n|---|\n",
        "| password |\n|---|\n| x |\n",
        "--|",
        "password,",
        "password,x\n",
        "a,password\na,x\n",
        "4111 ",
        "4111-",
        "41111111111111111111",
        "4111 1111 1111 1111 ",
        "https://a:b/c@",
        "://a:b/@",
        "a/b@//",
        "sqlplus ",
        "/@",
        "password -> ",
        "password → ",
        "password to ",
        "password was changed ",
        "passwort lautet ",
        "contraseña ",
        "密码",
        "密码是",
        "비밀번호는 ",
        "パスワードを「",
        "passphrase \"",
        "LS0tLS1CRUdJTi",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t\n",
        "MIIEpAIBAAKCAQEA",
        "MIIEpAIBAAKCAQEA\n",
    ];
    for piece in hostile {
        let text = piece.repeat(250_000 / piece.len());
        let redacted = redact(&text);
        assert_eq!(redacted.found.is_empty(), redacted.text == text, "{piece}");
    }
}

#[test]
fn a_long_secret_goes_whole() {
    let body = "aB3+".repeat(50_000);
    for text in [
        format!("client_secret: {body} after"),
        format!("client_secret: \"{body}\" after"),
        format!("Authorization: Bearer {body} after"),
        format!("Cookie: a={body} after"),
        format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY----- after"),
        format!("<private>{body}</private> after"),
    ] {
        let redacted = redact(&text);
        assert!(redacted.text.len() < 80 && redacted.text.ends_with(" after"), "{:.200}", redacted.text);
        assert_eq!(redacted.found.total(), 1);
    }
}
