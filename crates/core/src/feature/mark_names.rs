//! Asks serde whether an enum has a variant of a given name, so that the names are listed only at the variants.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

pub(in crate::feature) fn has_variant<T: DeserializeOwned>(name: &str) -> bool {
    matches!(T::deserialize(VariantName(name)), Err(HasVariant::Yes))
}

/// Deserializer that offers a variant name and no content.
struct VariantName<'n>(&'n str);

/// Returned as an error, which ends deserialization early and allocates nothing.
#[derive(Debug)]
enum HasVariant {
    Yes,
    No,
}

impl fmt::Display for HasVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for HasVariant {}

impl Error for HasVariant {
    fn custom<T: fmt::Display>(_: T) -> HasVariant {
        HasVariant::No
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> HasVariant {
        HasVariant::No
    }
}

impl<'de> Deserializer<'de> for VariantName<'_> {
    type Error = HasVariant;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, HasVariant> {
        Err(HasVariant::No)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, HasVariant> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for VariantName<'_> {
    type Error = HasVariant;
    type Variant = UnreadVariant;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, UnreadVariant), HasVariant> {
        let name: StrDeserializer<'_, HasVariant> = self.0.into_deserializer();
        seed.deserialize(name).map(|variant| (variant, UnreadVariant))
    }
}

/// The variant exists; its content is irrelevant.
struct UnreadVariant;

impl<'de> VariantAccess<'de> for UnreadVariant {
    type Error = HasVariant;

    fn unit_variant(self) -> Result<(), HasVariant> {
        Err(HasVariant::Yes)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, HasVariant> {
        Err(HasVariant::Yes)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, HasVariant> {
        Err(HasVariant::Yes)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, HasVariant> {
        Err(HasVariant::Yes)
    }
}
