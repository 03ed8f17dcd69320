//! Asks serde whether an enum has a variant of a given name, so that the names are listed only at the variants.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

pub(in crate::feature) fn has_variant<T: DeserializeOwned>(name: &str) -> bool {
    matches!(T::deserialize(Named(name)), Err(Answer::Yes))
}

/// Deserializer that offers a variant name and no content.
struct Named<'n>(&'n str);

/// Returned as an error, which ends deserialization early and allocates nothing.
#[derive(Debug)]
enum Answer {
    Yes,
    No,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Answer {}

impl Error for Answer {
    fn custom<T: fmt::Display>(_: T) -> Answer {
        Answer::No
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Answer {
        Answer::No
    }
}

impl<'de> Deserializer<'de> for Named<'_> {
    type Error = Answer;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Answer> {
        Err(Answer::No)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Answer> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Named<'_> {
    type Error = Answer;
    type Variant = Known;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Known), Answer> {
        let name: StrDeserializer<'_, Answer> = self.0.into_deserializer();
        seed.deserialize(name).map(|variant| (variant, Known))
    }
}

/// The variant exists; its content is irrelevant.
struct Known;

impl<'de> VariantAccess<'de> for Known {
    type Error = Answer;

    fn unit_variant(self) -> Result<(), Answer> {
        Err(Answer::Yes)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Answer> {
        Err(Answer::Yes)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Answer> {
        Err(Answer::Yes)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Answer> {
        Err(Answer::Yes)
    }
}
