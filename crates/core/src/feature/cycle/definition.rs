//! Definition of a cycle: its stages, and the context each needs before it begins.

use crate::feature::cycle::done_when::DoneWhen;
use crate::settings::setting::Setting as _;
use crate::settings::setting::Whole;
use crate::settings::value::Value;
use crate::text::hidden::judged;

/// Percentages refer to this many tokens on every window: the numbers were first written for it.
const PERCENT_BASE: u64 = 200_000;

/// More stages do not fit into one session.
const MAX_STAGES: usize = 20;

const MAX_NAME_CHARS: usize = 64;

/// Context that must be left before a stage begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinLeft {
    /// Per mille of 200K.
    Share(u32),
    Tokens(u64),
    /// The learned cost of this stage and the following ones.
    Auto,
}

impl MinLeft {
    /// Parses `"50%"`, `"80k"`, `"1500"` or `"auto"`.
    pub fn parse(text: &str) -> Option<MinLeft> {
        let text = text.trim();
        if text == "auto" {
            return Some(MinLeft::Auto);
        }
        let number = |part: &str| part.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
        if let Some(part) = text.strip_suffix('%') {
            return number(part)
                .filter(|part| *part <= 100.0)
                .map(|part| MinLeft::Share((part * 10.0).round() as u32));
        }
        let (part, factor) = match text.strip_suffix(['k', 'K']) {
            Some(part) => (part, 1000.0),
            None => (text, 1.0),
        };
        number(part).filter(|number| *number < 1e7).map(|number| MinLeft::Tokens((number * factor) as u64))
    }

    /// The notation that [`MinLeft::parse`] reads.
    pub fn to_text(self) -> String {
        match self {
            MinLeft::Share(share) if share % 10 == 0 => format!("{}%", share / 10),
            MinLeft::Share(share) => format!("{}.{}%", share / 10, share % 10),
            MinLeft::Tokens(tokens) if tokens > 0 && tokens % 1000 == 0 => format!("{}k", tokens / 1000),
            MinLeft::Tokens(tokens) => tokens.to_string(),
            MinLeft::Auto => "auto".to_owned(),
        }
    }

    /// `None` for `auto`, which depends on the history.
    pub fn tokens(self) -> Option<u64> {
        match self {
            MinLeft::Share(share) => Some(u64::from(share) * PERCENT_BASE / 1000),
            MinLeft::Tokens(tokens) => Some(tokens),
            MinLeft::Auto => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub name: String,
    /// The skill that does its work.
    pub skill: String,
    /// Ignored for the first stage.
    pub min_left: MinLeft,
    /// All of them must be seen, and the model must have said that the stage is done.
    pub done_when: Vec<DoneWhen>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// At least one; names are unique.
    pub stages: Vec<Stage>,
    /// Rounds of review and fix in one stage.
    pub fix_loop_limit: u64,
}

/// Applies outside of a cycle.
pub const FIX_LOOP_LIMIT_OUTSIDE: u64 = 3;

/// The stages of the built-in cycle.
pub(super) const BUILT_IN_STAGES: [(&str, MinLeft); 4] = [
    ("sprint", MinLeft::Auto),
    ("audit", MinLeft::Share(500)),
    ("ship", MinLeft::Share(300)),
    ("retrospective", MinLeft::Share(150)),
];

impl Default for Cycle {
    /// The built-in cycle.
    fn default() -> Cycle {
        let stage = |name: &str, min_left| Stage {
            name: name.to_owned(),
            skill: name.to_owned(),
            min_left,
            done_when: DoneWhen::defaults(name),
        };
        Cycle {
            stages: BUILT_IN_STAGES.into_iter().map(|(name, min_left)| stage(name, min_left)).collect(),
            fix_loop_limit: 2,
        }
    }
}

impl Cycle {
    pub fn position(&self, stage: &str) -> Option<usize> {
        self.stages.iter().position(|known| known.name == stage)
    }

    pub fn names(&self, from: usize) -> Vec<String> {
        self.stages.iter().skip(from).map(|stage| stage.name.clone()).collect()
    }

    /// Threshold before the stage at `at` when nothing has been learned: depends on the number of remaining stages.
    pub fn default_min_left(&self, at: usize) -> u64 {
        let share = match self.stages.len().saturating_sub(at) {
            0 => 0,
            1 => 150,
            2 => 300,
            _ => 500,
        };
        MinLeft::Share(share).tokens().unwrap_or_default()
    }

    /// Reads a cycle from the config, or tells what is wrong with it.
    pub fn read(value: &Value) -> Result<Cycle, String> {
        let Value::Table(members) = value else {
            return Err(format!("{} is not a cycle: use a table with `stages`", value.kind()));
        };
        let mut cycle = Cycle::default();
        for (key, value) in members {
            match key.as_str() {
                "stages" => cycle.stages = read_stages(value)?,
                "fix_loop_limit" => cycle.fix_loop_limit = FixLoops::read(value)?.get(),
                _ => return Err(format!("a cycle has no `{key}`: use `stages` and `fix_loop_limit`")),
            }
        }
        Ok(cycle)
    }

    pub fn to_value(&self) -> Value {
        let stage = |stage: &Stage| {
            let signs = stage.done_when.iter().map(|sign| Value::from(sign.to_text().as_str()));
            let members = [
                ("name", Value::from(stage.name.as_str())),
                ("skill", Value::from(stage.skill.as_str())),
                ("min_left", Value::from(stage.min_left.to_text().as_str())),
                ("done_when", Value::List(signs.collect())),
            ];
            Value::Table(members.map(|(key, value)| (key.to_owned(), value)).into())
        };
        let limit = i64::try_from(self.fix_loop_limit).unwrap_or(i64::MAX);
        Value::Table(vec![
            ("stages".to_owned(), Value::List(self.stages.iter().map(stage).collect())),
            ("fix_loop_limit".to_owned(), Value::Whole(limit)),
        ])
    }
}

type FixLoops = Whole<0, 100>;

fn read_stages(value: &Value) -> Result<Vec<Stage>, String> {
    let Value::List(items) = value else {
        return Err(format!("`stages` is {}: use a list of {{ name = \"…\", skill = \"…\" }}", value.kind()));
    };
    if items.is_empty() || items.len() > MAX_STAGES {
        return Err(format!("a cycle has from 1 to {MAX_STAGES} stages"));
    }
    let mut stages: Vec<Stage> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let stage = read_stage(item).map_err(|why| format!("stage {}: {why}", at + 1))?;
        if stages.iter().any(|known| known.name == stage.name) {
            return Err(format!("stage {}: there is a stage of that name already", at + 1));
        }
        stages.push(stage);
    }
    Ok(stages)
}

fn read_stage(item: &Value) -> Result<Stage, String> {
    let Value::Table(members) = item else {
        return Err(format!("{} is not a stage: use {{ name = \"…\", skill = \"…\" }}", item.kind()));
    };
    let (mut name, mut skill, mut min_left, mut done_when) = (None, None, MinLeft::Auto, None);
    for (key, value) in members {
        if key == "done_when" {
            done_when = Some(DoneWhen::read_list(value)?);
            continue;
        }
        let Value::Text(text) = value else { return Err(format!("`{key}` is {}: use a text", value.kind())) };
        match key.as_str() {
            "name" => name = Some(read_name(key, text)?),
            "skill" => skill = Some(read_name(key, text)?),
            "min_left" => {
                let read = MinLeft::parse(text);
                min_left = read.ok_or_else(|| {
                    format!("{value} is not a `min_left`: use \"50%\", \"80k\" or \"auto\"")
                })?;
            }
            _ => {
                return Err(format!("it has no `{key}`: use `name`, `skill`, `min_left` and `done_when`"));
            }
        }
    }
    let name = name.ok_or("its `name` is missing")?;
    let done_when = done_when.unwrap_or_else(|| DoneWhen::defaults(&name));
    Ok(Stage { skill: skill.unwrap_or_else(|| name.clone()), name, min_left, done_when })
}

fn read_name(key: &str, text: &str) -> Result<String, String> {
    let plain =
        |(c, is_plain): (char, bool)| is_plain && !c.is_whitespace() && !matches!(c, '`' | '"' | '\\');
    if text.is_empty() || text.chars().count() > MAX_NAME_CHARS || !judged(text).all(plain) {
        return Err(format!(
            "`{key}` takes a name of 1 to {MAX_NAME_CHARS} characters without blanks and quotes"
        ));
    }
    Ok(text.to_owned())
}

pub fn is_cycle_name(text: &str) -> bool {
    read_name("", text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(members: &[(&str, Value)]) -> Value {
        Value::Table(members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    #[test]
    fn how_much_must_be_left() {
        let tokens = |text: &str| MinLeft::parse(text).and_then(MinLeft::tokens);
        assert_eq!(tokens("50%"), Some(100_000));
        assert_eq!(tokens("12.5%"), Some(25_000));
        assert_eq!(tokens("80k"), Some(80_000));
        assert_eq!(tokens("1500"), Some(1500));
        assert_eq!(MinLeft::parse("auto"), Some(MinLeft::Auto));
        for wrong in ["", "%", "101%", "-1k", "much", "NaN", "1e9", "4 turns"] {
            assert_eq!(MinLeft::parse(wrong), None, "{wrong}");
        }
        for text in ["50%", "12.5%", "80k", "1500", "0", "auto"] {
            assert_eq!(MinLeft::parse(text).map(MinLeft::to_text).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_shown_reads_back() {
        let cycle = Cycle::default();
        assert_eq!(Cycle::read(&cycle.to_value()), Ok(cycle));
    }

    #[test]
    fn what_is_not_said_is_built_in() {
        let longer = Cycle::read(&table(&[("fix_loop_limit", Value::Whole(5))])).unwrap();
        assert_eq!(longer, Cycle { fix_loop_limit: 5, ..Cycle::default() });
        let one = Value::List(vec![table(&[("name", "check".into())])]);
        let own = Cycle::read(&table(&[("stages", one)])).unwrap();
        assert_eq!((own.stages[0].skill.as_str(), own.stages[0].min_left), ("check", MinLeft::Auto));
        assert_eq!(own.stages[0].done_when, [DoneWhen::Skill]);
        assert_eq!(own.default_min_left(0), 30_000);
        let again = Value::List(vec![table(&[("name", "audit".into()), ("skill", "team-audit".into())])]);
        let again = Cycle::read(&table(&[("stages", again)])).unwrap();
        assert_eq!(again.stages[0].done_when, Cycle::default().stages[1].done_when);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let stages = |items: Vec<Value>| table(&[("stages", Value::List(items))]);
        let named = |name: &str| table(&[("name", name.into())]);
        for (value, why) in [
            (Value::Flag(true), "is not a cycle"),
            (table(&[("stage", Value::Nothing)]), "no `stage`"),
            (table(&[("stages", Value::Whole(3))]), "use a list"),
            (stages(vec![]), "from 1 to 20"),
            (stages(vec!["sprint".into()]), "stage 1: a text is not a stage"),
            (stages(vec![named("a"), named("a")]), "stage 2: there is a stage of that name already"),
            (stages(vec![named("a b")]), "stage 1: `name` takes a name"),
            (stages(vec![table(&[("skill", "x".into())])]), "its `name` is missing"),
            (
                stages(vec![table(&[("name", "x".into()), ("min_left", "lots".into())])]),
                "is not a `min_left`",
            ),
            (stages(vec![table(&[("name", "x".into()), ("command", "rm".into())])]), "it has no `command`"),
            (
                stages(vec![table(&[("name", "x".into()), ("done_when", "skill".into())])]),
                "stage 1: `done_when` is a text",
            ),
            (table(&[("fix_loop_limit", "two".into())]), "use a whole number"),
        ] {
            let said = Cycle::read(&value).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
