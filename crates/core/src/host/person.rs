//! Whether a person is there to read and answer.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// According to the host, or to a variable that a person set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Person {
    There,
    /// The run is unattended.
    Absent,
    /// The host does not say. Advice is given as if a person were there; an approval is refused.
    #[default]
    Unknown,
}

impl Person {
    /// Required for an approval.
    pub fn is_there(self) -> bool {
        self == Person::There
    }

    /// Enough for advice.
    pub fn may_be_there(self) -> bool {
        self != Person::Absent
    }
}

/// The client that called a hook, as far as an approval depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallingClient {
    /// Not examined, or the hook was not called by the client.
    #[default]
    Unknown,
    /// The client itself reports an unattended session. Counts more than a variable of Tidegate.
    Unattended,
    /// Started by an agent, or by an unknown process: a program may control its keyboard.
    OfAgent,
    /// Started by a person; with its process id.
    OfPerson(u64),
}

impl From<bool> for Person {
    fn from(there: bool) -> Person {
        if there { Person::There } else { Person::Absent }
    }
}

/// Version 0.1.0 wrote a boolean.
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
