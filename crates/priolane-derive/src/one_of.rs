//! Implements `#[derive(Keys)]` for an enum with `#[keys(one_of)]`: the first required key of a variant selects it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, Result, Variant};

use crate::fields::{Presence, Role, doc};
use crate::keys::{Member, describe, members, read, write};
use crate::words::word;

/// A variant of the enum.
enum Kind<'a> {
    /// A word in place of the table, and its meaning.
    Word(&'a Ident, String, String),
    /// A table with these keys, the name of its first required key, and an example for error messages.
    Keys { ident: &'a Ident, members: Vec<Member>, first: String, example: String },
}

/// Whether the enum has the attribute `#[keys(one_of)]`.
pub(crate) fn is_one_of(input: &DeriveInput) -> Result<bool> {
    let mut found = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("keys")) {
        attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("one_of");
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>().map(drop)
            } else {
                Ok(())
            }
        })?;
    }
    Ok(found)
}

pub(crate) fn expand(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let kinds = data.variants.iter().map(kind).collect::<Result<Vec<_>>>()?;
    let name = &input.ident;
    let (read, write, describe) = (read_table(&kinds)?, write_table(&kinds)?, describe_all(name, &kinds)?);
    let as_value = as_value(name, &kinds);
    Ok(quote! {
        #[automatically_derived]
        impl ::priolane_core::keys::Keys for #name {
            #read
            #write
            #describe
        }

        #as_value
    })
}

fn kind(variant: &Variant) -> Result<Kind<'_>> {
    let ident = &variant.ident;
    if matches!(variant.fields, Fields::Unit) {
        return Ok(Kind::Word(ident, word(variant)?, doc(&variant.attrs)));
    }
    let members = members(&variant.fields)?;
    let required = members.iter().filter_map(|member| match &member.role {
        Role::Key(key) => match &key.presence {
            Presence::Required(example) => Some((key.name.clone(), example.value())),
            _ => None,
        },
        _ => None,
    });
    let required: Vec<(String, String)> = required.collect();
    let Some((first, _)) = required.first().cloned() else {
        return Err(Error::new_spanned(
            variant,
            "the first key of a variant, which selects it, must be required",
        ));
    };
    let examples: Vec<String> = required.into_iter().map(|(_, example)| example).collect();
    Ok(Kind::Keys { ident, members, first, example: examples.join(", ") })
}

fn read_table(kinds: &[Kind<'_>]) -> Result<TokenStream> {
    let tables = kinds.iter().filter_map(|kind| match kind {
        Kind::Keys { ident, members, first, example } => Some((ident, members, first, example)),
        Kind::Word(..) => None,
    });
    let tables: Vec<_> = tables.collect();
    let firsts = tables.iter().map(|(_, _, first, _)| first);
    let example = tables.first().map_or("", |(.., example)| example.as_str());
    let arms = tables.iter().enumerate().map(|(place, (ident, members, ..))| {
        let reads = members.iter().map(read).collect::<Result<Vec<_>>>()?;
        let names = members.iter().map(|member| &member.name);
        Ok(quote!(#place => { #(#reads)* Self::#ident { #(#names),* } }))
    });
    let arms = arms.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        fn read<T: ::priolane_core::keys::Table>(table: &mut T) -> ::core::result::Result<Self, T::Error> {
            Ok(match ::priolane_core::keys::only_one_of(table, &[#(#firsts),*], #example)? {
                #(#arms)*
                _ => unreachable!("invariant: one of the keys is there"),
            })
        }
    })
}

fn write_table(kinds: &[Kind<'_>]) -> Result<TokenStream> {
    let arms = kinds.iter().map(|kind| match kind {
        Kind::Word(ident, ..) => Ok(quote!(Self::#ident => {})),
        Kind::Keys { ident, members, .. } => {
            let names = members.iter().map(|member| &member.name);
            let writes = members.iter().map(|member| {
                let name = &member.name;
                write(member, &quote!(#name))
            });
            let writes = writes.collect::<Result<Vec<_>>>()?;
            Ok(quote!(Self::#ident { #(#names),* } => { #(#writes)* }))
        }
    });
    let arms = arms.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        fn write(&self, out: &mut ::priolane_core::keys::Pairs) {
            match self { #(#arms)* }
        }
    })
}

fn describe_all(name: &Ident, kinds: &[Kind<'_>]) -> Result<TokenStream> {
    let group = name.to_string();
    let each = kinds.iter().filter_map(|kind| match kind {
        Kind::Keys { members, .. } => Some(members.iter().map(describe).collect::<Result<Vec<_>>>()),
        Kind::Word(..) => None,
    });
    let each = each.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        fn describe(all: &mut Vec<::priolane_core::keys::KeyInfo>) {
            const GROUP: &str = #group;
            #({
                let mut keys = Vec::new();
                let out = &mut keys;
                #(#each)*
                ::priolane_core::keys::append_new(keys, all);
            })*
        }
    })
}

/// Implements `KeyValue`: the value of the key is one of the words, or the table.
fn as_value(name: &Ident, kinds: &[Kind<'_>]) -> TokenStream {
    let words = kinds.iter().filter_map(|kind| match kind {
        Kind::Word(ident, word, meaning) => Some((ident, word, meaning)),
        Kind::Keys { .. } => None,
    });
    let words: Vec<_> = words.collect();
    let known = words.iter().map(|(ident, word, _)| quote!((#word, Self::#ident)));
    let meanings = words.iter().map(|(_, word, meaning)| quote!((#word, #meaning)));
    let arms = words.iter().map(|(ident, word, _)| quote!(Self::#ident => #word.into()));
    let forms = kinds.iter().map(|kind| match kind {
        Kind::Word(_, word, _) => format!("{word:?}"),
        Kind::Keys { example, .. } => format!("{{ {example} }}"),
    });
    let forms = forms.collect::<Vec<_>>().join(" | ");
    quote! {
        #[automatically_derived]
        impl ::priolane_core::keys::KeyValue for #name {
            const UNIT: &'static str = "";

            fn read(
                value: &::priolane_core::keys::Value<'_>,
                _: &::priolane_core::keys::Bounds,
            ) -> ::core::result::Result<Self, ::priolane_core::keys::KeyError> {
                ::priolane_core::keys::read_one_of(value, &[#(#known),*], #forms)
            }

            #[allow(unreachable_patterns, reason = "where there are no words, or nothing else")]
            fn write(&self) -> ::priolane_core::keys::WrittenValue {
                match self {
                    #(#arms,)*
                    _ => <::priolane_core::keys::InTable as ::priolane_core::keys::Form<Self>>::write(self),
                }
            }

            fn schema() -> ::priolane_core::keys::Schema {
                let mut keys = Vec::new();
                <Self as ::priolane_core::keys::Keys>::describe(&mut keys);
                ::priolane_core::keys::Schema::OneOf(&[#(#meanings),*], keys)
            }
        }

        #[automatically_derived]
        impl ::serde::Serialize for #name {
            fn serialize<S: ::serde::Serializer>(&self, s: S) -> ::core::result::Result<S::Ok, S::Error> {
                ::serde::Serialize::serialize(&::priolane_core::keys::KeyValue::write(self), s)
            }
        }
    }
}
