//! A memory of any size, the same on every machine: invented prompts and answers with a natural frequency distribution of
//! words. Every third word is one that the thesaurus knows, the others are invented.
//!
//! Some words are planted: a few in half of all texts, a few that meet only in *needles*, the few texts that
//! a search has to find.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::time::Millis;
use tidegate_memory::record::{
    DecisionRow, LogRow, LogSource, LogSummary, ProjectRow, Record, SessionRow, TopicRow, TopicStatus, Uid,
};

/// Per language.
const WORDS: usize = 30_000;

const THESAURUS: &str = include_str!("../../src/text/thesaurus.txt");

/// The most common words are invented; known ones begin at this rank.
const FIRST_KNOWN: usize = 10;

/// The time of the first log; logs are as far apart as a million in two years.
const BEGINNING: u64 = 1_750_000_000_000;
const STEP: u64 = 63_000;

pub(crate) const PROJECTS: usize = 300;
const LOGS_OF_A_SESSION: usize = 10;
const SESSIONS_OF_A_TOPIC: usize = 2;

/// The logs to find: some among the first thousand, some later.
pub(crate) const NEEDLES: [usize; 15] = [
    3, 211, 498, 702, 977, 1_500, 20_000, 50_000, 77_777, 99_998, 150_000, 333_333, 500_000, 800_000, 999_990,
];

/// In every needle, and nowhere else.
pub(crate) const RARE: [&str; 2] = ["quillfern", "朧月夜"];
pub(crate) const RARE_PAIR: &str = "麒麟";
/// Each in half of all texts.
pub(crate) const COMMON: [[&str; 2]; 2] = [["deploy", "review"], ["設計", "変更"]];
/// Each in a quarter of all texts; together only in needles.
pub(crate) const APART: [[&str; 2]; 2] = [["harbour", "lantern"], ["港湾", "灯籠"]];
/// Each word in a tenth of all texts; in sequence only in needles.
pub(crate) const PHRASE: [[&str; 3]; 2] = [["crimson", "ledger", "rebuild"], ["分散", "合意", "形成"]];

/// Pseudo-random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a09_e667_f3bc_c908)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Ranks with Zipf's distribution.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(ranks: usize) -> Zipf {
        let mut sum = 0.0;
        let upto: Vec<f64> = (1..=ranks)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Zipf(upto.into_iter().map(|upto| upto / sum).collect())
    }

    fn draw(&self, random: &mut Random) -> usize {
        let share = random.share();
        self.0.partition_point(|upto| *upto < share).min(self.0.len() - 1)
    }
}

pub(crate) struct Corpus {
    /// English and Japanese, the most common first.
    pub(crate) words: [Vec<String>; 2],
    of_words: Zipf,
    of_projects: Zipf,
}

impl Corpus {
    pub(crate) fn new() -> Corpus {
        let mut words = [(0..WORDS).map(english).collect(), japanese()];
        for (language, words) in words.iter_mut().enumerate() {
            mix_in(&known_words(language), words);
        }
        Corpus { words, of_words: Zipf::new(WORDS), of_projects: Zipf::new(PROJECTS) }
    }

    /// A log, and the rows it belongs to if it is their first one.
    pub(crate) fn records(&self, number: usize, known: &mut BTreeSet<Uid>, into: &mut Vec<Record>) {
        let at = at(number);
        let session = number / LOGS_OF_A_SESSION;
        let topic = session / SESSIONS_OF_A_TOPIC;
        let project = self.project_of(topic);
        let mut first = |uid: &str| known.insert(uid.to_owned());
        if first(&uid("project", project)) {
            into.push(Record::Project(ProjectRow {
                uid: uid("project", project),
                id: Some(project.cast_signed() as i64 + 1),
                key: Some(format!("/code/project-{project}/.git")),
                name: format!("project-{project}"),
                created: at,
                updated: at,
            }));
        }
        if first(&uid("topic", topic)) {
            let mut random = Random::new(topic as u64 ^ 0x7001);
            let language = topic % 2;
            let automatic = topic % 4 >= 2;
            into.push(Record::Topic(TopicRow {
                uid: uid("topic", topic),
                id: Some(topic.cast_signed() as i64 + 1),
                project: uid("project", project),
                parent: None,
                title: self.sentence(language, 6, &mut random),
                status: if topic % 8 == 1 { TopicStatus::Closed } else { TopicStatus::Open },
                automatic: automatic.then(|| uid("session", session)),
                offered: 0,
                offered_at: None,
                created: at,
                updated: at,
            }));
        }
        if first(&uid("session", session)) {
            into.push(Record::Session(SessionRow {
                uid: uid("session", session),
                project: uid("project", project),
                root: format!("/code/project-{project}"),
                branch: Some("main".to_owned()),
                created: at,
                updated: at,
            }));
        }
        into.push(Record::Log(self.log(number)));
        if number % 60 == 59 {
            let mut random = Random::new(number as u64 ^ 0xdec1);
            into.push(Record::Decision(DecisionRow {
                uid: uid("decision", number),
                id: None,
                topic: uid("topic", topic),
                text: self.sentence(topic % 2, 12, &mut random),
                reason: self.sentence(topic % 2, 25, &mut random),
                supersedes: None,
                retracted: None,
                session: Some(uid("session", session)),
                taken_by: None,
                created: at,
                updated: at,
            }));
        }
    }

    /// Half of them English, half Japanese.
    pub(crate) fn log(&self, number: usize) -> LogRow {
        let mut random = Random::new(number as u64);
        let session = number / LOGS_OF_A_SESSION;
        let language = (session + number / 3) % 2;
        let (asked, answered) = (15 + random.below(50), 40 + random.below(110));
        let mut prompt = self.text(language, asked, &mut random);
        let mut answer = self.text(language, answered, &mut random);
        plant(number, &mut prompt, &mut answer, &mut random);
        let (who, what) = [("User", "AI"), ("ユーザー", "AI")][language];
        let summary = format!("{who}: {} / {what}: {}", cut(&prompt, 120), cut(&answer, 160));
        let word = |random: &mut Random| self.words[0][self.of_words.draw(random)].clone();
        let files = (0..random.below(4))
            .map(|_| format!("src/{}/{}.rs", word(&mut random), word(&mut random)))
            .collect();
        let tools = BTreeMap::from([("Edit".to_owned(), 2), ("Bash".to_owned(), random.below(9) as u32 + 1)]);
        LogRow {
            uid: log_uid(number),
            topic: uid("topic", session / SESSIONS_OF_A_TOPIC),
            session: Some(uid("session", session)),
            title: cut(&prompt, 80),
            text: summary,
            prompt,
            answer,
            tools,
            files,
            source: LogSource::Relay,
            redacted: BTreeMap::new(),
            notes: Vec::new(),
            summary: LogSummary { by: "local".to_owned(), again: false },
            at: at(number),
            updated: at(number),
        }
    }

    /// Projects have very different sizes.
    pub(crate) fn project_of(&self, topic: usize) -> usize {
        self.of_projects.draw(&mut Random::new(topic as u64 ^ 0x9407))
    }

    fn text(&self, language: usize, words: usize, random: &mut Random) -> String {
        let mut text = String::new();
        let mut left = words;
        while left > 0 {
            let length = left.min(6 + random.below(12));
            text.push_str(&self.sentence(language, length, random));
            text.push_str([". ", "。"][language]);
            left -= length;
        }
        text
    }

    fn sentence(&self, language: usize, words: usize, random: &mut Random) -> String {
        const PARTICLES: [&str; 10] = ["の", "を", "は", "が", "に", "で", "と", "も", "から", "まで"];
        const ENDS: [&str; 6] = ["する", "した", "です", "ました", "しない", "されている"];
        let mut text = String::new();
        for place in 0..words {
            let word = &self.words[language][self.of_words.draw(random)];
            if language == 0 && place > 0 {
                text.push(' ');
            }
            text.push_str(word);
            if language == 1 {
                let small: &[&str] = if place + 1 == words { &ENDS } else { &PARTICLES };
                text.push_str(small[random.below(small.len())]);
            }
        }
        text
    }
}

pub(crate) fn at(number: usize) -> Millis {
    Millis(BEGINNING + number as u64 * STEP)
}

fn uid(kind: &str, number: usize) -> Uid {
    format!("{kind}-{number}")
}

/// Like the uid of a relay, in no order.
pub(crate) fn log_uid(number: usize) -> Uid {
    let mut random = Random::new(number as u64 ^ 0x5eed);
    let (high, low) = (random.next(), random.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 52,
        number
    )
}

pub(crate) fn session_of(number: usize) -> Uid {
    uid("session", number / LOGS_OF_A_SESSION)
}

/// The topic's id in the store.
pub(crate) fn topic_of(number: usize) -> usize {
    number / LOGS_OF_A_SESSION / SESSIONS_OF_A_TOPIC
}

/// In characters.
fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Adds the planted words.
fn plant(number: usize, prompt: &mut String, answer: &mut String, random: &mut Random) {
    let is_needle = NEEDLES.contains(&number);
    for language in 0..2 {
        for word in COMMON[language] {
            if random.below(2) == 0 {
                add(if random.below(2) == 0 { &mut *prompt } else { &mut *answer }, word);
            }
        }
        if is_needle {
            add(answer, RARE[language]);
            add(prompt, APART[language][0]);
            add(answer, APART[language][1]);
            add(answer, &PHRASE[language].join(["", " "][usize::from(language == 0)]));
        } else {
            if let Some(word) = APART[language].get(number % 4) {
                add(answer, word);
            }
            for word in PHRASE[language] {
                if random.below(10) == 0 {
                    add(prompt, word);
                }
            }
        }
    }
    if is_needle {
        add(answer, RARE_PAIR);
    }
}

/// With a word in between, so that planted words do not form a phrase.
fn add(text: &mut String, word: &str) {
    text.push_str(" also ");
    text.push_str(word);
}

/// Common words are short, and no two have the same stem.
fn english(rank: usize) -> String {
    const FIRST: &[u8] = b"bcdfghjklmnprtvwz";
    const SECOND: &[u8] = b"aiou";
    let mut word = String::new();
    let mut rest = rank;
    while word.is_empty() || rest > 0 || word.len() < 4 {
        word.push(char::from(FIRST[rest % FIRST.len()]));
        rest /= FIRST.len();
        word.push(char::from(SECOND[rest % SECOND.len()]));
        rest /= SECOND.len();
    }
    word
}

/// Words of the thesaurus in this language, in no order, without those that are planted and what means the same: a text with
/// `harbor` has `harbour`.
fn known_words(language: usize) -> Vec<&'static str> {
    let is_english = |term: &str| term.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_japanese = |term: &str| !term.is_empty() && !term.chars().any(|c| c.is_ascii() || c == 'ー');
    let planted: Vec<&str> = RARE.into_iter().chain([RARE_PAIR]).chain(COMMON[language]).collect();
    let planted: Vec<&str> = planted.into_iter().chain(APART[language]).chain(PHRASE[language]).collect();
    let groups = THESAURUS.lines().filter(|line| line.contains(" | "));
    let (with_planted, others): (Vec<&'static str>, Vec<&'static str>) =
        groups.partition(|line| line.split(" | ").any(|term| planted.contains(&term)));
    let terms_of = |lines: &[&'static str]| -> Vec<&'static str> {
        lines.iter().flat_map(|line| line.split(" | ")).collect()
    };
    let same = terms_of(&with_planted);
    let mut words: Vec<&str> = terms_of(&others)
        .into_iter()
        .filter(|term| !same.contains(term))
        .filter(|term| if language == 0 { is_english(term) } else { is_japanese(term) })
        .filter(|term| !planted.iter().any(|word| term.contains(word)))
        .collect();
    words.sort_unstable();
    words.dedup();
    let mut random = Random::new(0x7e4a);
    words.sort_by_cached_key(|_| random.next());
    words
}

fn mix_in(known: &[&str], words: &mut [String]) {
    for (word, known) in words.iter_mut().skip(FIRST_KNOWN).step_by(3).zip(known) {
        (*known).clone_into(word);
    }
}

fn japanese() -> Vec<String> {
    let planted: String =
        [RARE[1], RARE_PAIR].into_iter().chain(COMMON[1]).chain(APART[1]).chain(PHRASE[1]).collect();
    let han: Vec<char> = (0..1200_u32)
        .filter_map(|place| char::from_u32(0x4e00 + place * 13))
        .filter(|c| !planted.contains(*c))
        .collect();
    let kana: Vec<char> = ('ア'..='ン').filter(|c| !"ァィゥェォッャュョヮ".contains(*c)).collect();
    let mut random = Random::new(0x1a9a);
    let mut seen = BTreeSet::new();
    let mut words = Vec::with_capacity(WORDS);
    while words.len() < WORDS {
        // Some characters are in many words.
        let one = |random: &mut Random| {
            let share = random.share();
            han[(share * share * han.len() as f64) as usize]
        };
        let word: String = match random.below(10) {
            0 | 1 => (0..3 + random.below(4)).map(|_| kana[random.below(kana.len())]).collect(),
            2 => (0..3).map(|_| one(&mut random)).collect(),
            _ => (0..2).map(|_| one(&mut random)).collect(),
        };
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}
