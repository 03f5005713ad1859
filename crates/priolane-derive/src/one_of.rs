//! Implements `#[derive(Keys)]` for an enum with `#[keys(one_of)]`: the first required key of a variant selects it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, LitStr, Result, Token, Variant, parenthesized};

use crate::fields::{Key, Presence, Role, doc};
use crate::keys::{Member, describe, members, read, write};
use crate::words::word;

/// A variant of the enum.
enum Kind<'a> {
    /// A word in place of the table, and its meaning.
    Word(&'a Ident, String, String),
    /// A table with these keys, the name of its first required key, and an example for error messages.
    Keys { ident: &'a Ident, members: Vec<Member>, shape: Shape, first: String, example: String },
    /// A table without a key of another variant.
    Nothing(&'a Ident),
}

impl Kind<'_> {
    /// Returns the key that selects the variant.
    fn first(&self) -> Option<&str> {
        match self {
            Self::Keys { first, .. } => Some(first),
            Self::Word(..) | Self::Nothing(_) => None,
        }
    }
}

/// The form in which a variant holds its keys.
#[derive(Clone, Copy)]
enum Shape {
    /// As named fields.
    Fields,
    /// As one unnamed field: the value of the key that has the name of the variant.
    Value,
}

impl Shape {
    /// Returns the pattern, which is also the expression, of a variant with these fields.
    fn of(self, ident: &Ident, members: &[Member]) -> TokenStream {
        let names = members.iter().map(|member| &member.name);
        match self {
            Self::Fields => quote!(Self::#ident { #(#names),* }),
            Self::Value => quote!(Self::#ident(#(#names),*)),
        }
    }
}

/// The messages about a table with keys of no variant or of several.
#[derive(Default)]
struct Messages {
    /// The text to write where two keys are set.
    both: Option<LitStr>,
    /// The message where not exactly one key is set; `{}` stands for the number of keys.
    count: Option<(LitStr, LitStr)>,
    /// The message where no key is set, if it differs.
    none: Option<(LitStr, LitStr)>,
    /// Whether a message about an unknown key lists the keys of all variants.
    all_known: bool,
}

/// Whether the enum has the attribute `#[keys(one_of)]`.
pub(crate) fn is_one_of(input: &DeriveInput) -> Result<bool> {
    let mut found = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("keys")) {
        attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("one_of");
            if meta.input.peek(Token![=]) {
                meta.value()?.parse::<syn::Expr>().map(drop)
            } else if meta.input.peek(syn::token::Paren) {
                pair(&meta).map(drop)
            } else {
                Ok(())
            }
        })?;
    }
    Ok(found)
}

/// Parses two strings in parentheses.
fn pair(meta: &ParseNestedMeta<'_>) -> Result<(LitStr, LitStr)> {
    let inside;
    parenthesized!(inside in meta.input);
    let what = inside.parse()?;
    inside.parse::<Token![,]>()?;
    Ok((what, inside.parse()?))
}

fn messages(input: &DeriveInput) -> Result<Messages> {
    let mut messages = Messages::default();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("keys")) {
        attribute.parse_nested_meta(|meta| {
            match meta.path.require_ident()?.to_string().as_str() {
                "one_of" => {}
                "both" => messages.both = Some(meta.value()?.parse()?),
                "count" => messages.count = Some(pair(&meta)?),
                "none" => messages.none = Some(pair(&meta)?),
                "all_known" => messages.all_known = true,
                _ => return Err(meta.error("expected one_of, both, count, none or all_known")),
            }
            Ok(())
        })?;
    }
    Ok(messages)
}

pub(crate) fn expand(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let kinds = data.variants.iter().map(kind).collect::<Result<Vec<_>>>()?;
    let name = &input.ident;
    let (read, write, describe) =
        (read_table(&kinds, &messages(input)?)?, write_table(&kinds)?, describe_all(name, &kinds)?);
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
    let (members, shape) = match &variant.fields {
        Fields::Unit => return Ok(Kind::Word(ident, word(variant)?, doc(&variant.attrs))),
        Fields::Named(fields) if fields.named.is_empty() => return Ok(Kind::Nothing(ident)),
        Fields::Named(_) => (members(&variant.fields)?, Shape::Fields),
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let role = Role::Key(Box::new(Key::of_variant(variant, &word(variant)?)?));
            let member = Member { name: format_ident!("stated"), ty: fields.unnamed[0].ty.clone(), role };
            (vec![member], Shape::Value)
        }
        Fields::Unnamed(_) => return Err(Error::new_spanned(variant, "expected one unnamed field")),
    };
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
    Ok(Kind::Keys { ident, members, shape, first, example: examples.join(", ") })
}

fn read_table(kinds: &[Kind<'_>], messages: &Messages) -> Result<TokenStream> {
    let mut arms = Vec::new();
    let (mut firsts, mut example, mut otherwise) = (Vec::new(), "", None);
    for kind in kinds {
        match kind {
            Kind::Keys { ident, members, shape, first, example: own } => {
                let place = firsts.len();
                if place == 0 {
                    example = own;
                }
                firsts.push(first);
                let reads = members.iter().map(read).collect::<Result<Vec<_>>>()?;
                let whole = shape.of(ident, members);
                arms.push(quote!(Some(#place) => { #(#reads)* #whole }));
            }
            Kind::Nothing(ident) => otherwise = Some(quote!(None => Self::#ident {},)),
            Kind::Word(..) => {}
        }
    }
    let text = |text: &Option<LitStr>| text.as_ref().map_or(quote!("only one of them"), |text| quote!(#text));
    let option = |pair: &Option<(LitStr, LitStr)>| match pair {
        Some((what, fix)) => quote!(Some((#what, #fix))),
        None => quote!(None),
    };
    let (both, count, none) = (text(&messages.both), option(&messages.count), option(&messages.none));
    let (all_known, optional) = (messages.all_known, otherwise.is_some());
    Ok(quote! {
        fn read<T: ::priolane_core::keys::Table>(table: &mut T) -> ::core::result::Result<Self, T::Error> {
            const CHOICE: ::priolane_core::keys::Choice<'static> = ::priolane_core::keys::Choice {
                keys: &[#(#firsts),*],
                example: #example,
                both: #both,
                count: #count,
                none: #none,
                all_known: #all_known,
                optional: #optional,
            };
            Ok(match CHOICE.find(table)? {
                #(#arms)*
                #otherwise
                _ => unreachable!("invariant: one of the keys is there"),
            })
        }
    })
}

fn write_table(kinds: &[Kind<'_>]) -> Result<TokenStream> {
    let arms = kinds.iter().map(|kind| match kind {
        Kind::Word(ident, ..) => Ok(quote!(Self::#ident => {})),
        Kind::Nothing(ident) => Ok(quote!(Self::#ident {} => {})),
        Kind::Keys { ident, members, shape, .. } => {
            let writes = members.iter().map(|member| {
                let name = &member.name;
                write(member, &quote!(#name))
            });
            let writes = writes.collect::<Result<Vec<_>>>()?;
            let whole = shape.of(ident, members);
            Ok(quote!(#whole => { #(#writes)* }))
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
        Kind::Word(..) | Kind::Nothing(_) => None,
    });
    let each = each.collect::<Result<Vec<_>>>()?;
    let firsts: Vec<&str> = kinds.iter().filter_map(Kind::first).collect();
    let all_firsts = firsts.join(", ");
    let need = match kinds.iter().any(|kind| matches!(kind, Kind::Nothing(_))) {
        true => format!("at most one of {all_firsts}"),
        false => format!("exactly one of {all_firsts}"),
    };
    let one_of_several = (firsts.len() > 1).then(|| {
        quote! {
            for key in &mut all[before..] {
                if [#(#firsts),*].contains(&key.name) {
                    (key.required, key.default) = (false, #need.to_owned());
                }
            }
        }
    });
    Ok(quote! {
        fn describe(all: &mut Vec<::priolane_core::keys::KeyInfo>) {
            const GROUP: &str = #group;
            #[allow(unused_variables, reason = "an enum with one table has no choice of keys")]
            let before = all.len();
            #({
                let mut keys = Vec::new();
                let out = &mut keys;
                #(#each)*
                ::priolane_core::keys::append_new(keys, all);
            })*
            #one_of_several
        }
    })
}

/// Implements `KeyValue`: the value of the key is one of the words, or the table.
fn as_value(name: &Ident, kinds: &[Kind<'_>]) -> TokenStream {
    let words = kinds.iter().filter_map(|kind| match kind {
        Kind::Word(ident, word, meaning) => Some((ident, word, meaning)),
        Kind::Keys { .. } | Kind::Nothing(_) => None,
    });
    let words: Vec<_> = words.collect();
    let known = words.iter().map(|(ident, word, _)| quote!((#word, Self::#ident)));
    let meanings = words.iter().map(|(_, word, meaning)| quote!((#word, #meaning)));
    let arms = words.iter().map(|(ident, word, _)| quote!(Self::#ident => #word.into()));
    let forms = kinds.iter().map(|kind| match kind {
        Kind::Word(_, word, _) => format!("{word:?}"),
        Kind::Keys { example, .. } => format!("{{ {example} }}"),
        Kind::Nothing(_) => "{}".to_owned(),
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
