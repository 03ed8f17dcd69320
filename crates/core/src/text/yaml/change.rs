//! One value changed, by a splice that leaves the rest of the text as it is.

use std::fmt;
use std::ops::Range;

use super::scalar::key_text;
use super::{Entry, Kind, Node, Scalar, Style, Unreadable, parse, same_entries};
use crate::text::hidden::plain_word;

/// The reason that a text was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It cannot be read.
    Unreadable(Unreadable),
    /// The value has an anchor, an alias or a tag.
    Shared(String),
    /// The value there is neither a map nor on one line.
    Other(String),
    /// The change would not read back as meant.
    Layout,
}

impl fmt::Display for Unfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Unreadable(why) => write!(out, "{why}"),
            Unfit::Shared(key) => write!(
                out,
                "cannot edit `{}` here: it has an anchor, an alias or a tag, and other keys may share its value",
                plain_word(key)
            ),
            Unfit::Other(key) => {
                write!(
                    out,
                    "cannot edit `{}` here: it is neither a map nor a value on one line",
                    plain_word(key)
                )
            }
            Unfit::Layout => out.write_str("cannot make this change without touching other lines"),
        }
    }
}

/// New text for a range of bytes.
struct Splice {
    range: Range<usize>,
    new: String,
}

/// Sets the value at this path of keys, and adds the keys that are missing.
pub fn set(text: &str, path: &[&str], value: &Scalar) -> Result<String, Unfit> {
    let root = parse(text).map_err(Unfit::Unreadable)?;
    let Some(splice) = plan_splice(text, &root, path, value)? else { return Ok(text.to_owned()) };
    let mut new = text.to_owned();
    new.replace_range(splice.range, &splice.new);
    let reads_back = parse(&new).is_ok_and(|changed| is_changed(&root, &changed, path, value));
    if reads_back { Ok(new) } else { Err(Unfit::Layout) }
}

/// `new` has the new value, and the same as `old` everywhere else.
fn is_changed(old: &Node<'_>, new: &Node<'_>, path: &[&str], value: &Scalar) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return value.reads_as(new);
    };
    let not_it = |entry: &&Entry<'_>| entry.0.key() != Some(*key);
    let Some(changed) = new.get(key) else { return false };
    let nothing =
        Node { span: 0..0, column: 0, marked: false, kind: Kind::Map { entries: Vec::new(), flow: false } };
    let before = old.get(key).filter(|before| matches!(before.kind, Kind::Map { .. })).unwrap_or(&nothing);
    same_entries(old.entries().iter().filter(not_it), new.entries().iter().filter(not_it))
        && is_changed(before, changed, rest, value)
}

fn plan_splice(text: &str, root: &Node<'_>, path: &[&str], value: &Scalar) -> Result<Option<Splice>, Unfit> {
    let mut node = root;
    for (at, key) in path.iter().enumerate() {
        let entry = node.entries().iter().find(|(known, _)| known.key() == Some(*key));
        let Some((known, found)) = entry else {
            return Ok(Some(insert_entry(text, root, node, &path[at..], value)));
        };
        let rest = &path[at + 1..];
        match &found.kind {
            Kind::Alias | Kind::Scalar { style: Style::Alias, .. } => {
                return Err(Unfit::Shared((*key).to_owned()));
            }
            _ if found.marked => return Err(Unfit::Shared((*key).to_owned())),
            Kind::List { flow: true, .. }
                if rest.is_empty() && !text[found.span.clone()].contains(['\n', '\r']) =>
            {
                return Ok(Some(Splice { range: found.span.clone(), new: value.to_yaml() }));
            }
            Kind::Map { .. } if !rest.is_empty() => node = found,
            Kind::Scalar { style, .. } if rest.is_empty() => {
                let one_line = !text[found.span.clone()].contains(['\n', '\r']);
                return match style {
                    Style::Plain | Style::Quoted if found.text() == Some(value.plain_text().as_str()) => {
                        Ok(None)
                    }
                    Style::Plain | Style::Quoted if one_line => {
                        Ok(Some(Splice { range: found.span.clone(), new: value.to_yaml() }))
                    }
                    Style::Empty => Ok(Some(fill_value(text, root, node, known, rest, value))),
                    _ => Err(Unfit::Other((*key).to_owned())),
                };
            }
            Kind::Scalar { style: Style::Empty, .. } => {
                return Ok(Some(fill_value(text, root, node, known, rest, value)));
            }
            // `null` can be replaced without loss.
            Kind::Scalar { style: Style::Plain, .. } if found.is_nothing() => {
                let new = format!("{{{}}}", flow_text(rest, value));
                return Ok(Some(Splice { range: found.span.clone(), new }));
            }
            _ => return Err(Unfit::Other((*key).to_owned())),
        }
    }
    Err(Unfit::Other(path.join(".")))
}

/// The line ending of the text.
fn find_line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The indentation of one level in this text.
fn find_indentation(node: &Node<'_>) -> Option<usize> {
    node.entries().iter().find_map(|(key, value)| {
        let inner = value.entries().first().filter(|_| !matches!(value.kind, Kind::Map { flow: true, .. }));
        inner
            .map(|(first, _)| first.column.saturating_sub(key.column))
            .filter(|step| *step > 0)
            .or_else(|| find_indentation(value))
    })
}

/// `path: value` as nested lines, from this column.
fn block_lines(path: &[&str], value: &Scalar, column: usize, step: usize) -> Vec<String> {
    let last = path.len().saturating_sub(1);
    let line = |(at, key): (usize, &&str)| {
        let indent = " ".repeat(column + at * step);
        let value = if at == last { format!(" {}", value.to_yaml()) } else { String::new() };
        format!("{indent}{}:{value}", key_text(key))
    };
    path.iter().enumerate().map(line).collect()
}

/// `path: value` within braces.
fn flow_text(path: &[&str], value: &Scalar) -> String {
    match path.split_first() {
        None => value.to_yaml(),
        Some((key, [])) => format!("{}: {}", key_text(key), value.to_yaml()),
        Some((key, rest)) => format!("{}: {{{}}}", key_text(key), flow_text(rest, value)),
    }
}

/// A new entry at the end of `map`.
fn insert_entry(text: &str, root: &Node<'_>, map: &Node<'_>, path: &[&str], value: &Scalar) -> Splice {
    let Kind::Map { entries, flow } = &map.kind else {
        return Splice { range: map.span.end..map.span.end, new: String::new() };
    };
    if *flow {
        return match entries.last() {
            None => {
                let inner = map.span.end.saturating_sub(1);
                Splice { range: inner..inner, new: flow_text(path, value) }
            }
            Some((key, last)) => {
                let is_empty = matches!(last.kind, Kind::Scalar { style: Style::Empty, .. });
                let end = if is_empty {
                    key.span.end + text[key.span.end..].find([',', '}']).unwrap_or(0)
                } else {
                    last.span.end
                };
                Splice { range: end..end, new: format!(", {}", flow_text(path, value)) }
            }
        };
    }
    let Some((first, last)) = entries.first().zip(entries.last()) else {
        return Splice { range: map.span.end..map.span.end, new: String::new() };
    };
    let column = first.0.column;
    let at = end_of_entry(text, last, column);
    let end = find_line_ending(text);
    let lines = block_lines(path, value, column, find_indentation(root).unwrap_or(2));
    insert_lines(text, at, &lines, end)
}

/// Lines after the line that ends at `at`.
fn insert_lines(text: &str, at: usize, lines: &[String], end: &str) -> Splice {
    let joined = lines.join(end);
    let new = if text[..at].ends_with('\n') { format!("{joined}{end}") } else { format!("{end}{joined}") };
    Splice { range: at..at, new }
}

/// A value for a key without one.
fn fill_value(
    text: &str,
    root: &Node<'_>,
    map: &Node<'_>,
    key: &Node<'_>,
    rest: &[&str],
    value: &Scalar,
) -> Splice {
    let colon = text[key.span.end..].find(':').map_or(key.span.end, |at| key.span.end + at + 1);
    if rest.is_empty() {
        return Splice { range: colon..colon, new: format!(" {}", value.to_yaml()) };
    }
    if matches!(map.kind, Kind::Map { flow: true, .. }) {
        return Splice { range: colon..colon, new: format!(" {{{}}}", flow_text(rest, value)) };
    }
    let end = find_line_ending(text);
    let step = find_indentation(root).unwrap_or(2);
    let lines = block_lines(rest, value, key.column + step, step);
    insert_lines(text, end_of_line(text, colon), &lines, end)
}

/// The start of the next line.
fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The end of an entry's last line in a block map. Lines below its value that are indented further belong to it.
fn end_of_entry(text: &str, (key, value): &Entry<'_>, column: usize) -> usize {
    let mut end = end_of_line(text, key.span.end.max(value.content_end().min(text.len())));
    let is_list = matches!(value.kind, Kind::List { flow: false, .. });
    let mut at = end;
    while at < text.len() {
        let next = end_of_line(text, at);
        let line = text[at..next].trim_end_matches(['\n', '\r']);
        let inner = line.trim_start_matches(' ');
        let indent = line.len() - inner.len();
        at = next;
        if inner.is_empty() {
            continue;
        }
        let belongs =
            indent > column || is_list && indent == column && (inner == "-" || inner.starts_with("- "));
        if !belongs {
            break;
        }
        end = next;
    }
    end
}
