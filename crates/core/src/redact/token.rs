//! Tokens that are known by their own form. All of them hold a run of at least sixteen letters, digits, `_` and `-`, not
//! only small letters, so that the rest of a text is passed over; only the numbers of cards may come in shorter groups.

use std::ops::Range;

use crate::redact::{Finding, Kind, LETTER, MIXED, SHORTEST_TOKEN, WORD, card, class, is_word, pem};

/// The bytes of a token behind its prefix.
#[derive(Clone, Copy)]
enum Body {
    Alnum,
    Hex,
    Capitals,
    Word,
}

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Body::Alnum => byte.is_ascii_alphanumeric(),
            Body::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Body::Capitals => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Body::Word => is_word(byte),
        }
    }

    /// The number of such bytes at the start.
    fn run(self, bytes: &[u8]) -> usize {
        bytes.iter().take_while(|byte| self.has(**byte)).count()
    }
}

/// The places at which a token with a prefix may begin.
#[derive(Clone, Copy, PartialEq)]
enum Begins {
    /// The prefix is found in no other text.
    Anywhere,
    /// Only at the start of a word.
    Word,
}

/// A prefix that ends with `_` or `-`, and the least length of the body.
struct Prefix(Kind, &'static str, Begins, Body, usize);

static PREFIXES: [Prefix; 87] = {
    use Begins::{Anywhere, Word as AtWord};
    use Body::{Alnum, Capitals, Hex, Word};
    [
        Prefix(Kind::AgeKey, "AGE-SECRET-KEY-", Anywhere, Capitals, 40),
        Prefix(Kind::AgeKey, "AGE-PLUGIN-", Anywhere, Word, 30),
        Prefix(Kind::AnthropicKey, "sk-ant-", Anywhere, Word, 16),
        Prefix(Kind::CloudflareToken, "cfut_", Anywhere, Alnum, 32),
        Prefix(Kind::CloudflareToken, "cfat_", Anywhere, Alnum, 32),
        Prefix(Kind::CloudflareToken, "cfk_", AtWord, Alnum, 32),
        Prefix(Kind::DigitaloceanToken, "dop_v1_", Anywhere, Hex, 32),
        Prefix(Kind::DigitaloceanToken, "doo_v1_", Anywhere, Hex, 32),
        Prefix(Kind::DigitaloceanToken, "dor_v1_", Anywhere, Hex, 32),
        Prefix(Kind::DockerToken, "dckr_pat_", Anywhere, Word, 20),
        Prefix(Kind::DockerToken, "dckr_oat_", Anywhere, Word, 20),
        Prefix(Kind::FigmaToken, "figd_", Anywhere, Word, 30),
        Prefix(Kind::FlyToken, "fm2_", AtWord, Alnum, 40),
        Prefix(Kind::FlyToken, "fo1_", AtWord, Word, 40),
        Prefix(Kind::GithubToken, "ghp_", Anywhere, Alnum, 20),
        Prefix(Kind::GithubToken, "gho_", Anywhere, Alnum, 20),
        Prefix(Kind::GithubToken, "ghu_", Anywhere, Alnum, 20),
        Prefix(Kind::GithubToken, "ghs_", Anywhere, Alnum, 20),
        Prefix(Kind::GithubToken, "ghr_", Anywhere, Alnum, 20),
        Prefix(Kind::GithubToken, "github_pat_", Anywhere, Word, 20),
        Prefix(Kind::GitlabToken, "glpat-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "gldt-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "glrt-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "glptt-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "glcbt-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "glft-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "glimt-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "gloas-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "glsoat-", Anywhere, Word, 16),
        Prefix(Kind::GitlabToken, "glagent-", Anywhere, Word, 16),
        Prefix(Kind::GoogleOauth, "GOCSPX-", Anywhere, Word, 20),
        Prefix(Kind::GrafanaToken, "glsa_", Anywhere, Alnum, 20),
        Prefix(Kind::GrafanaToken, "glc_", AtWord, Alnum, 32),
        Prefix(Kind::GroqKey, "gsk_", AtWord, Alnum, 32),
        Prefix(Kind::HerokuKey, "HRKU-", Anywhere, Word, 30),
        Prefix(Kind::HuggingFaceToken, "hf_", AtWord, Alnum, 30),
        Prefix(Kind::HuggingFaceToken, "api_org_", AtWord, Alnum, 30),
        Prefix(Kind::LangsmithKey, "lsv2_pt_", Anywhere, Word, 32),
        Prefix(Kind::LangsmithKey, "lsv2_sk_", Anywhere, Word, 32),
        Prefix(Kind::LinearKey, "lin_api_", Anywhere, Alnum, 32),
        Prefix(Kind::LinearKey, "lin_oauth_", Anywhere, Alnum, 32),
        Prefix(Kind::MailgunKey, "key-", AtWord, Hex, 32),
        Prefix(Kind::NetlifyToken, "nfp_", AtWord, Alnum, 32),
        Prefix(Kind::NewRelicKey, "NRAK-", Anywhere, Capitals, 20),
        Prefix(Kind::NotionToken, "ntn_", AtWord, Alnum, 32),
        Prefix(Kind::NotionToken, "secret_", AtWord, Alnum, 40),
        Prefix(Kind::NpmToken, "npm_", Anywhere, Alnum, 32),
        Prefix(Kind::OpenaiKey, "sk-", AtWord, Alnum, 20),
        Prefix(Kind::OpenaiKey, "sk-proj-", Anywhere, Word, 20),
        Prefix(Kind::OpenaiKey, "sk-svcacct-", Anywhere, Word, 20),
        Prefix(Kind::OpenaiKey, "sk-admin-", Anywhere, Word, 20),
        Prefix(Kind::OpenaiKey, "sk-None-", Anywhere, Word, 20),
        Prefix(Kind::OpenrouterKey, "sk-or-v1-", Anywhere, Hex, 32),
        Prefix(Kind::PerplexityKey, "pplx-", Anywhere, Alnum, 32),
        Prefix(Kind::PlanetscaleToken, "pscale_tkn_", Anywhere, Word, 20),
        Prefix(Kind::PlanetscaleToken, "pscale_pw_", Anywhere, Word, 20),
        Prefix(Kind::PlanetscaleToken, "pscale_oauth_", Anywhere, Word, 20),
        Prefix(Kind::PostmanKey, "PMAK-", Anywhere, Word, 30),
        Prefix(Kind::PulumiToken, "pul-", AtWord, Hex, 40),
        Prefix(Kind::PypiToken, "pypi-", AtWord, Word, 50),
        Prefix(Kind::ReplicateToken, "r8_", AtWord, Alnum, 32),
        Prefix(Kind::RubygemsKey, "rubygems_", Anywhere, Hex, 40),
        Prefix(Kind::SentryToken, "sntrys_", Anywhere, Word, 30),
        Prefix(Kind::SentryToken, "sntryu_", Anywhere, Hex, 40),
        Prefix(Kind::ShopifyToken, "shpat_", Anywhere, Hex, 30),
        Prefix(Kind::ShopifyToken, "shpca_", Anywhere, Hex, 30),
        Prefix(Kind::ShopifyToken, "shppa_", Anywhere, Hex, 30),
        Prefix(Kind::ShopifyToken, "shpss_", Anywhere, Hex, 30),
        Prefix(Kind::SlackToken, "xoxb-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xoxp-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xoxa-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xoxr-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xoxs-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xoxe-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xoxc-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xoxd-", Anywhere, Word, 10),
        Prefix(Kind::SlackToken, "xapp-", AtWord, Word, 20),
        Prefix(Kind::SquareToken, "sq0atp-", Anywhere, Word, 16),
        Prefix(Kind::SquareToken, "sq0csp-", Anywhere, Word, 16),
        Prefix(Kind::StripeKey, "sk_live_", Anywhere, Alnum, 16),
        Prefix(Kind::StripeKey, "rk_live_", Anywhere, Alnum, 16),
        Prefix(Kind::StripeKey, "sk_test_", Anywhere, Alnum, 16),
        Prefix(Kind::StripeKey, "rk_test_", Anywhere, Alnum, 16),
        Prefix(Kind::StripeKey, "whsec_", Anywhere, Alnum, 20),
        Prefix(Kind::SupabaseKey, "sbp_", AtWord, Hex, 40),
        Prefix(Kind::TailscaleKey, "tskey-", Anywhere, Word, 16),
        Prefix(Kind::XaiKey, "xai-", AtWord, Alnum, 40),
    ]
};

/// Letters at the beginning of a word, and the length of its rest: exact, or at least.
struct Letters(Kind, &'static str, Body, usize, bool);

static LETTERS: [Letters; 16] = [
    Letters(Kind::AwsAccessKey, "AKIA", Body::Capitals, 16, true),
    Letters(Kind::AwsAccessKey, "ASIA", Body::Capitals, 16, true),
    Letters(Kind::AwsAccessKey, "ABIA", Body::Capitals, 16, true),
    Letters(Kind::AwsAccessKey, "ACCA", Body::Capitals, 16, true),
    Letters(Kind::GoogleApiKey, "AIza", Body::Word, 35, false),
    Letters(Kind::DatabricksToken, "dapi", Body::Hex, 32, true),
    Letters(Kind::CratesIoToken, "cio", Body::Alnum, 32, true),
    Letters(Kind::TwilioKey, "SK", Body::Hex, 32, true),
    Letters(Kind::SquareToken, "EAAA", Body::Word, 56, false),
    Letters(Kind::FacebookToken, "EAACEdEose0cBA", Body::Alnum, 8, false),
    Letters(Kind::FacebookToken, "EAA", Body::Alnum, 80, false),
    Letters(Kind::AlibabaKey, "LTAI", Body::Alnum, 20, true),
    Letters(Kind::AlibabaKey, "LTAI", Body::Alnum, 16, true),
    Letters(Kind::AtlassianToken, "ATATT3", Body::Word, 60, false),
    Letters(Kind::AtlassianToken, "ATCTT3", Body::Word, 60, false),
    Letters(Kind::NugetKey, "oy2", Body::Alnum, 43, true),
];

/// The text before the run, with a dot or another byte that is not of a word; the least length of the run; and whether
/// another part has to follow behind a dot.
struct Before(Kind, &'static str, usize, bool);

static BEFORE: [Before; 12] = [
    Before(Kind::GoogleOauth, "ya29.", 20, false),
    Before(Kind::GoogleOauth, "1//", 40, false),
    Before(Kind::VaultToken, "hvs.", 20, false),
    Before(Kind::VaultToken, "hvb.", 20, false),
    Before(Kind::VaultToken, "hvr.", 20, false),
    Before(Kind::DopplerToken, "dp.pt.", 30, false),
    Before(Kind::DopplerToken, "dp.st.", 30, false),
    Before(Kind::DopplerToken, "dp.sa.", 30, false),
    Before(Kind::DopplerToken, "dp.ct.", 30, false),
    Before(Kind::SendgridKey, "SG.", 16, true),
    // Before the next one, which is its end.
    Before(Kind::TerraformToken, ".atlasv1.", 40, false),
    Before(Kind::CloudflareToken, "v1.", 100, false),
];

pub(super) fn find(text: &str) -> Vec<Finding> {
    let bytes = text.as_bytes();
    let mut findings: Vec<Finding> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (run, of_run) = run_at(bytes, at);
        if run < 4 {
            at += run + 1;
            continue;
        }
        if of_run & (LETTER | MIXED) == MIXED
            && let Some(end) = card::end_of(bytes, at)
        {
            findings.push(Finding { kind: Kind::CardNumber, at: at..end });
            at = end;
            continue;
        }
        if run < SHORTEST_TOKEN || of_run & MIXED == 0 {
            at += run + 1;
            continue;
        }
        let from = findings.last().map_or(0, |last| last.at.end);
        let place = Run { bytes, from, start: at, end: at + run };
        match place.token() {
            Some(finding) => {
                at = finding.at.end;
                let id = finding.kind == Kind::AwsAccessKey;
                findings.push(finding);
                // A line of the file that the console of AWS offers.
                if id && let Some(secret) = aws_secret_behind(bytes, at) {
                    at = secret.end;
                    findings.push(Finding { kind: Kind::AwsSecretKey, at: secret });
                }
            }
            None => at += run + 1,
        }
    }
    findings
}

/// The secret key that follows the id it belongs to.
fn aws_secret_behind(bytes: &[u8], id: usize) -> Option<Range<usize>> {
    const LENGTH: usize = 40;
    let is_gap = |byte: &&u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',' | b';' | b':' | b'|' | b'/')
    };
    let start = id + bytes[id..].iter().take(8).take_while(is_gap).count();
    let secret = bytes.get(start..start + LENGTH)?;
    let is_body = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
    let mixed = secret.iter().any(u8::is_ascii_uppercase)
        && secret.iter().any(u8::is_ascii_lowercase)
        && secret.iter().any(u8::is_ascii_digit);
    let ends = bytes.get(start + LENGTH).is_none_or(|byte| !is_body(byte) && !is_word(*byte));
    (start > id && mixed && ends && secret.iter().all(is_body)).then_some(start..start + LENGTH)
}

/// The length of the run of word bytes that begins here, and its classes.
fn run_at(bytes: &[u8], at: usize) -> (usize, u8) {
    let mut of_run = 0;
    let mut end = at;
    while let Some(class) = bytes.get(end).map(|byte| class(*byte)).filter(|class| class & WORD != 0) {
        of_run |= class;
        end += 1;
    }
    (end - at, of_run)
}

/// A long run of word bytes.
#[derive(Clone, Copy)]
struct Run<'a> {
    bytes: &'a [u8],
    /// Bytes before this belong to another token.
    from: usize,
    start: usize,
    end: usize,
}

impl Run<'_> {
    fn token(self) -> Option<Finding> {
        let start = self.word_start();
        // Most specific first.
        pem::find_bare(self.bytes, start)
            .or_else(|| self.behind_known(start))
            .or_else(|| self.prefixed(start))
            .or_else(|| self.lettered(start))
            .or_else(|| self.shaped(start))
            .or_else(|| self.authorized(start))
    }

    /// The start of the word: within JSON and URLs the first bytes may belong to an escape, as the `n` of `\n`.
    fn word_start(self) -> usize {
        let run = &self.bytes[self.start..self.end];
        let hex = |length: usize| run[..length].iter().all(u8::is_ascii_hexdigit);
        match self.bytes[self.from..self.start].last() {
            Some(b'\\') if run[0] == b'u' && run[1..5].iter().all(u8::is_ascii_hexdigit) => self.start + 5,
            Some(b'\\') if matches!(run[0], b'n' | b'r' | b't' | b'b' | b'f') => self.start + 1,
            Some(b'%') if hex(2) => self.start + 2,
            _ => self.start,
        }
    }

    /// A word can begin here: the byte before is not part of it.
    fn begins_word(self, at: usize) -> bool {
        match &self.bytes[self.from..at] {
            [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., last] => !is_word(*last),
            [] => true,
        }
    }

    fn finding(kind: Kind, start: usize, end: usize) -> Finding {
        Finding { kind, at: start..end }
    }

    /// The end of a token that may extend behind the run: parts behind dots, and the signs of base64.
    fn far_end(self) -> usize {
        let more = |byte: &u8| is_word(*byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~' | b'%');
        let length = self.bytes[self.end..].iter().take_while(|byte| more(byte)).count();
        let mut end = self.end + length;
        // The end of a sentence.
        while end > self.end && matches!(self.bytes[end - 1], b'.' | b'/') {
            end -= 1;
        }
        end
    }

    /// The end of a token that extends only over parts behind dots.
    fn dotted_end(self) -> usize {
        let mut end = self.end;
        while self.bytes.get(end) == Some(&b'.') {
            let (run, _) = run_at(self.bytes, end + 1);
            if run == 0 {
                break;
            }
            end += 1 + run;
        }
        end
    }

    fn prefixed(self, word: usize) -> Option<Finding> {
        let bytes = self.bytes;
        for separator in self.start..self.end {
            if !matches!(bytes[separator], b'_' | b'-') {
                continue;
            }
            let body = separator + 1;
            for Prefix(kind, text, begins, of, least) in &PREFIXES {
                let Some(start) = body.checked_sub(text.len()).filter(|start| *start >= self.start) else {
                    continue;
                };
                if &bytes[start..body] != text.as_bytes() || (*begins == Begins::Word && start != word) {
                    continue;
                }
                if of.run(&bytes[body..self.end]) >= *least {
                    let end = match kind {
                        Kind::GitlabToken => self.dotted_end(),
                        Kind::SlackToken
                        | Kind::StripeKey
                        | Kind::FlyToken
                        | Kind::GrafanaToken
                        | Kind::SentryToken => self.far_end(),
                        _ => self.end,
                    };
                    // The bytes before it in the same run become a word of their own once this is taken out.
                    let left = Run { end: start, ..self };
                    let other = (start >= word + SHORTEST_TOKEN).then(|| {
                        left.lettered(word).or_else(|| left.shaped(word)).or_else(|| left.authorized(word))
                    });
                    return other.flatten().or(Some(Self::finding(*kind, start, end)));
                }
            }
        }
        None
    }

    fn lettered(self, start: usize) -> Option<Finding> {
        let run = &self.bytes[start..self.end];
        LETTERS.iter().find_map(|Letters(kind, text, of, length, exactly)| {
            let body = run.strip_prefix(text.as_bytes())?;
            let found = of.run(body);
            let numbered =
                *kind == Kind::DatabricksToken && matches!(body.get(found..), Some([b'-', b'0'..=b'9']));
            let fits = if *exactly {
                found == *length && (found == body.len() || numbered)
            } else {
                found >= *length
            };
            fits.then(|| {
                Self::finding(
                    *kind,
                    start,
                    if *kind == Kind::AtlassianToken { self.far_end() } else { self.end },
                )
            })
        })
    }

    fn behind_known(self, start: usize) -> Option<Finding> {
        if start != self.start || start == self.from || !matches!(self.bytes[start - 1], b'.' | b'/' | b'~') {
            return None;
        }
        let before = &self.bytes[self.from..start];
        let run = &self.bytes[start..self.end];
        // `SG.` and two parts, of which the first may be letters alone.
        if run.len() >= 30 && before.ends_with(b".") {
            let part = before[..before.len() - 1].iter().rev().take(SHORTEST_TOKEN * 2);
            let part = part.take_while(|byte| is_word(**byte)).count();
            let first = start - 1 - part;
            if part >= SHORTEST_TOKEN
                && self.bytes[self.from..first].ends_with(b"SG.")
                && self.begins_word(first - 3)
            {
                return Some(Self::finding(Kind::SendgridKey, first - 3, self.end));
            }
        }
        if before.ends_with(b"Q~") && run.len() >= 28 {
            let lead = Body::Alnum.run(&before[before.len().saturating_sub(6)..before.len() - 2]);
            return (lead == 4).then(|| Self::finding(Kind::AzureClientSecret, start - 6, self.far_end()));
        }
        let Before(kind, text, least, parted) =
            BEFORE.iter().find(|Before(_, text, ..)| before.ends_with(text.as_bytes()))?;
        let mut first = start - text.len();
        let fits = match kind {
            Kind::TerraformToken => {
                let name = before[..before.len() - text.len()].iter().rev().take(20);
                first -= name.take_while(|byte| byte.is_ascii_alphanumeric()).count();
                true
            }
            Kind::CloudflareToken => run.starts_with(b"0-") && Body::Hex.run(&run[2..]) == 24,
            Kind::GoogleOauth if *text == "1//" => run[0] == b'0' && self.begins_word(first),
            // A longer name may end in the same letters.
            _ => self.begins_word(first),
        };
        let end = if *parted { self.dotted_end() } else { self.end };
        let whole = !parted || end >= self.end + 30;
        let end = if *kind == Kind::GoogleOauth { self.far_end() } else { end };
        (fits && whole && run.len() >= *least).then(|| Self::finding(*kind, first, end))
    }

    fn shaped(self, start: usize) -> Option<Finding> {
        let bytes = self.bytes;
        let run = &bytes[start..self.end];
        // The parts behind the first and the second dot.
        let part = |end: usize| match bytes.get(end) {
            Some(b'.') => end + 1..end + 1 + run_at(bytes, end + 1).0,
            _ => end..end,
        };
        if run.starts_with(b"eyJ") {
            let second = part(self.end);
            let third = part(second.end);
            let json = bytes[second.clone()].starts_with(b"eyJ") && second.len() >= 8;
            if json || (second.len() >= 16 && third.len() >= 16) {
                return Some(Self::finding(Kind::Jwt, start, self.dotted_end()));
            }
        }
        let mixed = |run: &[u8]| run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_uppercase);
        if matches!(run[0], b'M' | b'N' | b'O') && (23..=28).contains(&run.len()) {
            let second = part(self.end);
            let third = part(second.end);
            if (6..=7).contains(&second.len()) && (27..=45).contains(&third.len()) && mixed(run) {
                return Some(Self::finding(Kind::DiscordToken, start, third.end));
            }
        }
        if run.len() == 35 && run.starts_with(b"AA") && start > self.from && bytes[start - 1] == b':' {
            let before = &bytes[self.from..start - 1];
            let digits = before.iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
            if (8..=11).contains(&digits) {
                return Some(Self::finding(Kind::TelegramToken, start - 1 - digits, self.end));
            }
        }
        if Body::Hex.run(run) == 32 {
            let rest = &run[32..];
            if rest.len() == 18 && rest[0] == b'-' && rest[9] == b'-' && Body::Hex.run(&rest[1..]) == 8 {
                return Some(Self::finding(Kind::MailgunKey, start, self.end));
            }
            if let Some(number) = rest.strip_prefix(b"-us")
                && matches!(number.len(), 1 | 2)
                && number.iter().all(u8::is_ascii_digit)
            {
                return Some(Self::finding(Kind::MailchimpKey, start, self.end));
            }
        }
        None
    }

    /// A token behind `Bearer` or `Basic`, in any place.
    fn authorized(self, start: usize) -> Option<Finding> {
        let before = self.bytes[self.from..start].strip_suffix(b" ")?;
        let scheme = |name: &[u8]| {
            before.len() >= name.len()
                && before[before.len() - name.len()..].eq_ignore_ascii_case(name)
                && before.len().checked_sub(name.len() + 1).is_none_or(|at| !is_word(before[at]))
        };
        let run = &self.bytes[start..self.end];
        let digits = run.iter().any(u8::is_ascii_digit);
        let fits = digits && (scheme(b"bearer") || scheme(b"basic"));
        fits.then(|| Self::finding(Kind::Authorization, start, self.far_end()))
    }
}
