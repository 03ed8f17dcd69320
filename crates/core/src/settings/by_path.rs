//! The part of a section whose keys are path patterns: free, and so not declared one by one.

use crate::settings::section::{Project, Put, Voice, Wrong, put};
use crate::settings::setting::Setting;
use crate::settings::value::Value;
use crate::text::glob::Glob;

/// Values by path pattern, in the order in which they were first named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByPath<T>(pub Vec<(Glob, T)>);

impl<T: Setting + Default> ByPath<T> {
    /// The values whose pattern matches this path.
    pub fn of(&self, path: &str) -> Vec<&T> {
        self.0.iter().filter(|(glob, _)| glob.matches(path)).map(|(_, value)| value).collect()
    }

    /// The patterns, as they were written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(glob, _)| glob.text())
    }

    /// The value of a pattern.
    pub fn get(&self, name: &str) -> Value {
        self.0
            .iter()
            .find(|(glob, _)| glob.text() == name)
            .map_or(Value::Nothing, |(_, value)| value.to_value())
    }

    /// Checks that a key is a pattern and takes this value.
    pub fn check(name: &str, value: &Value) -> Result<(), Wrong> {
        Glob::new(name).map_err(|why| Wrong::Value(format!("this is not a path pattern: {why}")))?;
        T::read(value).map(drop).map_err(Wrong::Value)
    }

    /// Sets the value of a pattern, as far as this voice may.
    pub fn put(&mut self, name: &str, value: &Value, project: Project, voice: Voice) -> Put {
        if let Some((_, there)) = self.0.iter_mut().find(|(glob, _)| glob.text() == name) {
            return put(there, value, project, voice);
        }
        let Ok(glob) = Glob::new(name) else { return Put::Kept };
        let mut new = T::default();
        let put = put(&mut new, value, project, voice);
        if matches!(put, Put::Taken | Put::TakenInPart) {
            self.0.push((glob, new));
        }
        put
    }
}
