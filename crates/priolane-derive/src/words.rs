//! Implements `#[derive(Words)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Result, Variant};

use crate::fields::doc;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(input, "expected an enum of words"));
    };
    let name = &input.ident;
    let rows = data.variants.iter().map(row).collect::<Result<Vec<_>>>()?;
    let arms = data.variants.iter().map(|variant| {
        let ident = &variant.ident;
        word(variant).map(|word| quote!(Self::#ident => #word))
    });
    let arms = arms.collect::<Result<Vec<_>>>()?;
    let meanings = data.variants.iter().map(|variant| {
        let meaning = doc(&variant.attrs);
        word(variant).map(|word| quote!((#word, #meaning)))
    });
    let meanings = meanings.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        #[automatically_derived]
        impl #name {
            /// The words in files and the variant that each selects.
            pub const WORDS: &'static [(&'static str, Self)] = &[#(#rows),*];

            /// Returns the word for this variant in files.
            pub const fn word(self) -> &'static str {
                match self { #(#arms),* }
            }
        }

        #[automatically_derived]
        impl ::priolane_core::keys::KeyValue for #name {
            const UNIT: &'static str = "";

            fn read(
                value: &::priolane_core::keys::Value<'_>,
                _: &::priolane_core::keys::Bounds,
            ) -> ::core::result::Result<Self, ::priolane_core::keys::KeyError> {
                value.word(Self::WORDS)
            }

            fn write(&self) -> ::priolane_core::keys::WrittenValue {
                ::priolane_core::keys::WrittenValue::Text(self.word().to_owned())
            }

            fn schema() -> ::priolane_core::keys::Schema {
                ::priolane_core::keys::Schema::Words(&[#(#meanings),*])
            }
        }

        #[automatically_derived]
        impl ::priolane_core::serde::Serialize for #name {
            fn serialize<S: ::priolane_core::serde::Serializer>(&self, s: S) -> ::core::result::Result<S::Ok, S::Error> {
                s.serialize_str(self.word())
            }
        }
    })
}

fn row(variant: &Variant) -> Result<TokenStream> {
    if !matches!(variant.fields, Fields::Unit) {
        return Err(Error::new_spanned(variant, "a word cannot have data"));
    }
    let ident = &variant.ident;
    word(variant).map(|word| quote!((#word, Self::#ident)))
}

/// Returns the word of a variant: the argument of `#[word("...")]`, or else the variant's name in snake case.
pub(crate) fn word(variant: &Variant) -> Result<String> {
    match variant.attrs.iter().find(|attribute| attribute.path().is_ident("word")) {
        Some(attribute) => Ok(attribute.parse_args::<LitStr>()?.value()),
        None => Ok(snake(&variant.ident.to_string())),
    }
}

fn snake(name: &str) -> String {
    let mut words = String::new();
    for (i, letter) in name.char_indices() {
        if letter.is_uppercase() && i > 0 {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
