//! SPDX licence expressions of names, `OR`, `AND`, `WITH` and parentheses.

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// A licence, with its exception if any.
    Name(String),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Expression, String> {
        // Old manifests write `/` for `OR`.
        let text = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let mut words = text.split_whitespace().peekable();
        if words.peek().is_none() {
            return Err("no licence is named".to_owned());
        }
        let parsed = parse_any(&mut words)?;
        match words.next() {
            None => Ok(parsed),
            Some(word) => Err(format!("`{word}` is not expected in the licence")),
        }
    }

    pub(super) fn is_met_by(&self, accepted: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Expression::Name(name) => accepted(name),
            Expression::All(all) => all.iter().all(|one| one.is_met_by(accepted)),
            Expression::Any(any) => any.iter().any(|one| one.is_met_by(accepted)),
        }
    }
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn parse_any(words: &mut Words<'_>) -> Result<Expression, String> {
    let first = parse_all(words)?;
    let mut alternatives = vec![first];
    while words.next_if(|word| *word == "OR").is_some() {
        alternatives.push(parse_all(words)?);
    }
    Ok(unwrap_single(alternatives, Expression::Any))
}

fn parse_all(words: &mut Words<'_>) -> Result<Expression, String> {
    let mut parts = vec![parse_name(words)?];
    while words.next_if(|word| *word == "AND").is_some() {
        parts.push(parse_name(words)?);
    }
    Ok(unwrap_single(parts, Expression::All))
}

fn unwrap_single(mut parts: Vec<Expression>, several: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { several(parts) }
}

fn parse_name(words: &mut Words<'_>) -> Result<Expression, String> {
    match words.next() {
        Some("(") => {
            let inner = parse_any(words)?;
            match words.next() {
                Some(")") => Ok(inner),
                _ => Err("a parenthesis is open in the licence".to_owned()),
            }
        }
        None | Some("OR" | "AND" | "WITH" | ")") => Err("a name is missing in the licence".to_owned()),
        Some(name) if words.next_if(|word| *word == "WITH").is_some() => {
            let exception = words.next().ok_or("an exception is missing in the licence")?;
            Ok(Expression::Name(format!("{name} WITH {exception}")))
        }
        Some(name) => Ok(Expression::Name(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_as_they_say() {
        for (text, accepted, met) in [
            ("MIT", &["MIT"][..], true),
            ("MIT/Apache-2.0", &["Apache-2.0"], true),
            ("MIT OR GPL-3.0", &["MIT"], true),
            ("MIT AND GPL-3.0", &["MIT"], false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT"], false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT", "Unicode-3.0"], true),
            // `AND` binds tighter.
            ("MIT OR Apache-2.0 AND GPL-3.0", &["MIT"], true),
            ("MIT OR Apache-2.0 AND GPL-3.0", &["Apache-2.0"], false),
            ("Apache-2.0 WITH LLVM-exception", &["Apache-2.0"], false),
            ("Apache-2.0 WITH LLVM-exception OR MIT", &["MIT"], true),
        ] {
            let expression = Expression::parse(text).unwrap();
            assert_eq!(expression.is_met_by(&|name| accepted.contains(&name)), met, "{text} by {accepted:?}");
        }
        for text in ["", "MIT OR", "(MIT", "MIT)", "OR MIT", "MIT Apache-2.0", "MIT WITH"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
