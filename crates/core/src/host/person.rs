//! Whether a person is there who reads and answers.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// As the host says it, or a variable that a person set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Person {
    /// Reads along and can answer.
    There,
    /// The run is unattended.
    Absent,
    /// The host does not say. Advice is given as if a person were there; an approval is refused.
    #[default]
    Unknown,
}

impl Person {
    /// Whether an approval can be theirs.
    pub fn is_there(self) -> bool {
        self == Person::There
    }

    /// Whether advice may find a reader.
    pub fn may_be_there(self) -> bool {
        self != Person::Absent
    }
}

/// The client that called a hook, as far as an approval depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Client {
    /// Not looked for, or the client did not call.
    #[default]
    Unknown,
    /// It says itself that its session is unattended, whatever a variable of Tidegate's says.
    Unattended,
    /// An agent started it, or it cannot be told: the person at its keyboard may be a program.
    OfAgent,
    /// A person's, by its process.
    OfPerson(u64),
}

impl From<bool> for Person {
    fn from(there: bool) -> Person {
        if there { Person::There } else { Person::Absent }
    }
}

/// Version 0.1.0 wrote a truth value.
impl<'de> Deserialize<'de> for Person {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Person;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("whether a person is there")
            }

            fn visit_bool<E: Error>(self, there: bool) -> Result<Person, E> {
                Ok(there.into())
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Person, E> {
                Ok(match name {
                    "there" => Person::There,
                    "absent" => Person::Absent,
                    _ => Person::Unknown,
                })
            }
        }
        from.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_is_written_and_as_0_1_0_wrote_it() {
        let read = |json: &str| serde_json::from_str::<Person>(json).unwrap();
        for (person, name) in
            [(Person::There, "\"there\""), (Person::Absent, "\"absent\""), (Person::Unknown, "\"unknown\"")]
        {
            assert_eq!(serde_json::to_string(&person).unwrap(), name);
            assert_eq!(read(name), person);
        }
        assert_eq!((read("true"), read("false")), (Person::There, Person::Absent));
        assert_eq!(read("\"asleep\""), Person::Unknown);
    }
}
