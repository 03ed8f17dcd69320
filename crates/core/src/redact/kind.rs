//! Kinds of secrets, and counts of those found.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names are of small letters and `_` only, so that a marker never looks like a token.
macro_rules! kinds {
    ($($kind:ident $name:literal $doc:literal,)*) => {
        /// A kind of secret.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = $doc] $kind,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// As it stands in markers and records.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    AgeKey "age_key" "A secret key of age.",
    AlibabaKey "alibaba_key" "An access key of Alibaba Cloud.",
    AnthropicKey "anthropic_key" "A key or token of Anthropic.",
    ApiKey "api_key" "A value next to words like `api_key`.",
    AtlassianToken "atlassian_token" "A token of Atlassian.",
    Authorization "authorization" "The value of an `Authorization` header.",
    AwsAccessKey "aws_access_key" "An access key id of AWS.",
    AwsSecretKey "aws_secret_key" "A secret access key of AWS.",
    AzureClientSecret "azure_client_secret" "A client secret of Microsoft Entra.",
    AzureSas "azure_sas" "The signature of a shared access URL of Azure.",
    AzureStorageKey "azure_storage_key" "A key in a connection string of Azure.",
    CardNumber "card_number" "The number of a payment card.",
    CloudflareToken "cloudflare_token" "A key or token of Cloudflare.",
    Cookie "cookie" "The value of a cookie in a header.",
    CratesIoToken "crates_io_token" "A token of crates.io.",
    DatabricksToken "databricks_token" "A token of Databricks.",
    DigitaloceanToken "digitalocean_token" "A token of DigitalOcean.",
    DiscordToken "discord_token" "A token of a Discord bot.",
    DiscordWebhook "discord_webhook" "The secret part of a Discord webhook.",
    DockerToken "docker_token" "A token of Docker Hub.",
    DopplerToken "doppler_token" "A token of Doppler.",
    FacebookToken "facebook_token" "A token of Facebook.",
    FigmaToken "figma_token" "A token of Figma.",
    FlyToken "fly_token" "A token of Fly.io.",
    GithubToken "github_token" "A token of GitHub.",
    GitlabToken "gitlab_token" "A token of GitLab.",
    GoogleApiKey "google_api_key" "An API key of Google.",
    GoogleOauth "google_oauth" "A token or client secret of Google.",
    GrafanaToken "grafana_token" "A token of Grafana.",
    GroqKey "groq_key" "A key of Groq.",
    HerokuKey "heroku_key" "A key of Heroku.",
    HuggingFaceToken "hugging_face_token" "A token of Hugging Face.",
    Jwt "jwt" "A JSON web token.",
    LangsmithKey "langsmith_key" "A key of LangSmith.",
    LinearKey "linear_key" "A key of Linear.",
    MailchimpKey "mailchimp_key" "A key of Mailchimp.",
    MailgunKey "mailgun_key" "A key of Mailgun.",
    NetlifyToken "netlify_token" "A token of Netlify.",
    NewRelicKey "new_relic_key" "A key of New Relic.",
    NotionToken "notion_token" "A token of Notion.",
    NpmToken "npm_token" "A token of npm.",
    NugetKey "nuget_key" "A key of NuGet.",
    OpenaiKey "openai_key" "A key of OpenAI, or of a service with keys of the same form.",
    OpenrouterKey "openrouter_key" "A key of OpenRouter.",
    Password "password" "A value next to words like `password`.",
    PerplexityKey "perplexity_key" "A key of Perplexity.",
    PgpPrivateKey "pgp_private_key" "A private key block of PGP.",
    PlanetscaleToken "planetscale_token" "A token or password of PlanetScale.",
    PostmanKey "postman_key" "A key of Postman.",
    Private "private" "Text between `<private>` and `</private>`.",
    PrivateKey "private_key" "A private key in PEM.",
    PulumiToken "pulumi_token" "A token of Pulumi.",
    PypiToken "pypi_token" "A token of PyPI.",
    ReplicateToken "replicate_token" "A token of Replicate.",
    RubygemsKey "rubygems_key" "A key of RubyGems.",
    Secret "secret" "A value next to words like `secret`.",
    SendgridKey "sendgrid_key" "A key of SendGrid.",
    SentryToken "sentry_token" "A token of Sentry.",
    ShopifyToken "shopify_token" "A token of Shopify.",
    SignedUrl "signed_url" "The signature of a URL that grants access.",
    SlackToken "slack_token" "A token of Slack.",
    SlackWebhook "slack_webhook" "The secret part of a Slack webhook.",
    SquareToken "square_token" "A token of Square.",
    SshPrivateKey "ssh_private_key" "A private key of OpenSSH.",
    StripeKey "stripe_key" "A key of Stripe.",
    SupabaseKey "supabase_key" "A key of Supabase.",
    TailscaleKey "tailscale_key" "A key of Tailscale.",
    TelegramToken "telegram_token" "A token of a Telegram bot.",
    TerraformToken "terraform_token" "A token of Terraform Cloud.",
    Token "token" "A value next to the word `token`.",
    TwilioKey "twilio_key" "A key of Twilio.",
    UrlPassword "url_password" "A password in a URL, or behind `curl -u`.",
    VaultToken "vault_token" "A token of Vault.",
    XaiKey "xai_key" "A key of xAI.",
}

impl Kind {
    fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// The beginning of every marker; the kind's name and `]` follow.
pub(super) const MARKER: &str = "[redacted:";

/// The length of the marker that stands at this place.
pub(super) fn marker_at(bytes: &[u8], at: usize) -> Option<usize> {
    let name = bytes.get(at..)?.strip_prefix(MARKER.as_bytes())?;
    let length = name.iter().position(|byte| !(byte.is_ascii_lowercase() || *byte == b'_'))?;
    let known =
        name[length] == b']' && Kind::ALL.iter().any(|kind| kind.name().as_bytes() == &name[..length]);
    known.then_some(MARKER.len() + length + 1)
}

/// The number of secrets found of each kind; in JSON `{"jwt": 1}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found(Vec<(Kind, u32)>);

impl Found {
    /// Counts one more of a kind.
    pub fn add(&mut self, kind: Kind) {
        self.add_several(kind, 1);
    }

    /// Adds the counts of another text.
    pub fn merge(&mut self, other: &Found) {
        for (kind, count) in other.iter() {
            self.add_several(kind, count);
        }
    }

    /// No secret was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All kinds together.
    pub fn total(&self) -> u32 {
        self.0.iter().fold(0, |total, (_, count)| total.saturating_add(*count))
    }

    /// Each kind that was found, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, u32)> {
        self.0.iter().copied()
    }

    fn add_several(&mut self, kind: Kind, count: u32) {
        match self.0.binary_search_by_key(&kind, |(kind, _)| *kind) {
            Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(count),
            Err(_) if count == 0 => {}
            Err(at) => self.0.insert(at, (kind, count)),
        }
    }
}

impl Serialize for Found {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(kind, count)| (kind.name(), count)))
    }
}

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_map(Counts)
    }
}

/// Kinds that this version does not know are passed over.
struct Counts;

impl<'de> Visitor<'de> for Counts {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counts by kind")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut found = Found::default();
        while let Some((name, count)) = map.next_entry::<Cow<'de, str>, u32>()? {
            if let Some(kind) = Kind::named(&name) {
                found.add_several(kind, count);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_plain() {
        for (index, kind) in Kind::ALL.iter().enumerate() {
            let name = kind.name();
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
            assert!(!Kind::ALL[index + 1..].iter().any(|other| other.name() == name), "{name}");
            let marker = format!("x{MARKER}{name}]");
            assert_eq!(marker_at(marker.as_bytes(), 1), Some(marker.len() - 1));
        }
        for text in ["[redacted:hunter]", "[redacted:jwt", "[redacted:]", "[redacted:jwt ]", "jwt", ""] {
            assert_eq!(marker_at(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn counts_are_added_and_read_back() {
        let mut found = Found::default();
        assert!(found.is_empty());
        found.add(Kind::Password);
        found.add(Kind::Jwt);
        found.add(Kind::Password);
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(text, r#"{"jwt":1,"password":2}"#);
        let mut read: Found = serde_json::from_str(r#"{"password":2,"of_tomorrow":7,"jwt":1}"#).unwrap();
        assert_eq!(read, found);
        read.merge(&found);
        assert_eq!((read.total(), read.iter().count()), (6, 2));
    }
}
