//! Implements `#[derive(Keys)]` for a tagged enum: a word selects the variant, whose keys are in the same table.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, LitStr, Result, Type, Variant};

use crate::fields::doc;
use crate::keys::shorthand;
use crate::words::word;

/// The tag attribute of the enum: `#[keys(tag = "expiry", default = "switch", example = "...")]`.
struct Tag {
    name: String,
    default: Option<String>,
    source: String,
    /// An example for the message that the tag is missing.
    example: Option<String>,
    /// Whether the word alone stands for the table.
    is_shorthand: bool,
}

pub(crate) fn expand(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let tag = tag(input)?;
    let name = &input.ident;
    let kinds = data.variants.iter().map(|variant| {
        let meaning = doc(&variant.attrs);
        Ok(Kind { ident: &variant.ident, word: word(variant)?, meaning, content: content(variant)? })
    });
    let kinds = kinds.collect::<Result<Vec<_>>>()?;
    let arms = kinds.iter().map(|Kind { ident, word, content, .. }| match content {
        Some(_) => quote!(Self::#ident(_) => #word),
        None => quote!(Self::#ident => #word),
    });
    let (read, write, describe) =
        (read(input, &tag, &kinds)?, write(&tag, &kinds), describe(input, &tag, &kinds));
    let as_value = tag.is_shorthand.then(|| shorthand(name, &LitStr::new(&tag.name, name.span())));
    Ok(quote! {
        #[automatically_derived]
        impl #name {
            /// Returns the word for this variant in files.
            pub const fn word(&self) -> &'static str {
                match self { #(#arms),* }
            }
        }

        #[automatically_derived]
        impl ::priolane_core::keys::Keys for #name {
            #read
            #write
            #describe
        }

        #[automatically_derived]
        impl ::priolane_core::serde::Serialize for #name {
            fn serialize<S: ::priolane_core::serde::Serializer>(&self, s: S) -> ::core::result::Result<S::Ok, S::Error> {
                ::priolane_core::keys::serialize(self, s)
            }
        }

        #as_value
    })
}

/// A variant of the enum.
struct Kind<'a> {
    ident: &'a Ident,
    word: String,
    meaning: String,
    content: Option<Type>,
}

fn read(input: &DeriveInput, tag: &Tag, kinds: &[Kind<'_>]) -> Result<TokenStream> {
    let key = &tag.name;
    let words: Vec<&String> = kinds.iter().map(|kind| &kind.word).collect();
    let places = 0..kinds.len();
    let reads = kinds.iter().enumerate().map(|(i, Kind { ident, content, .. })| match content {
        Some(ty) => quote!(#i => Self::#ident(<#ty as ::priolane_core::keys::Keys>::read(table)?)),
        None => quote!(#i => Self::#ident),
    });
    let absent = match &tag.default {
        Some(default) => {
            let place = words.iter().position(|word| *word == default);
            let place =
                place.ok_or_else(|| Error::new_spanned(input, "the default must be one of the words"))?;
            quote!(#place)
        }
        None => {
            let first = || format!("{key} = {:?}", words.first().map_or("", |word| word.as_str()));
            let example = tag.example.clone().unwrap_or_else(first);
            quote!(return Err(table.missing(#key, #example)))
        }
    };
    Ok(quote! {
        fn read<T: ::priolane_core::keys::Table>(table: &mut T) -> ::core::result::Result<Self, T::Error> {
            const WORDS: &[(&str, usize)] = &[#((#words, #places)),*];
            let place = match table.take(#key, |value| value.word(WORDS))? {
                Some(place) => place,
                None => #absent,
            };
            Ok(match place {
                #(#reads,)*
                _ => unreachable!("invariant: words stand for their places"),
            })
        }
    })
}

fn write(tag: &Tag, kinds: &[Kind<'_>]) -> TokenStream {
    let key = &tag.name;
    let writes = kinds.iter().map(|Kind { ident, word, content, .. }| {
        let tag = quote!(out.push((#key, #word.into())));
        match content {
            Some(_) => {
                quote!(Self::#ident(inner) => { #tag; ::priolane_core::keys::Keys::write(inner, out); })
            }
            None => quote!(Self::#ident => { #tag; }),
        }
    });
    quote! {
        fn write(&self, out: &mut ::priolane_core::keys::Pairs) {
            match self { #(#writes)* }
        }
    }
}

fn describe(input: &DeriveInput, tag: &Tag, kinds: &[Kind<'_>]) -> TokenStream {
    let (key, source, meaning) = (&tag.name, &tag.source, doc(&input.attrs));
    let words = kinds.iter().map(|Kind { word, meaning, .. }| quote!((#word, #meaning)));
    let inner = kinds.iter().filter_map(|kind| kind.content.as_ref());
    let inner = inner.map(|ty| quote!(::priolane_core::keys::describe_new::<#ty>(out);));
    let (shown, required) = (tag.default.clone().unwrap_or_default(), tag.default.is_none());
    quote! {
        fn describe(out: &mut Vec<::priolane_core::keys::KeyInfo>) {
            out.push(::priolane_core::keys::KeyInfo {
                name: #key,
                group: #key,
                meaning: #meaning,
                unit: "",
                bounds: ::priolane_core::keys::Bounds::ANY,
                default: #shown.to_owned(),
                source: #source,
                required: #required,
                none: None,
                schema: ::priolane_core::keys::Schema::Words(&[#(#words),*]),
            });
            #(#inner)*
        }
    }
}

/// Returns the struct of keys in a variant; `None` for a unit variant.
fn content(variant: &Variant) -> Result<Option<Type>> {
    match &variant.fields {
        Fields::Unit => Ok(None),
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(Some(fields.unnamed[0].ty.clone())),
        Fields::Unnamed(_) | Fields::Named(_) => {
            Err(Error::new_spanned(variant, "a variant must have one struct of keys or none"))
        }
    }
}

fn tag(input: &DeriveInput) -> Result<Tag> {
    let (mut name, mut default, mut source) = (None, None, String::new());
    let (mut example, mut is_shorthand) = (None, false);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("keys")) {
        attribute.parse_nested_meta(|meta| {
            let text = |meta: &syn::meta::ParseNestedMeta<'_>| {
                Ok::<_, Error>(meta.value()?.parse::<LitStr>()?.value())
            };
            if meta.path.is_ident("tag") {
                name = Some(text(&meta)?);
            } else if meta.path.is_ident("default") {
                default = Some(text(&meta)?);
            } else if meta.path.is_ident("source") {
                source = text(&meta)?;
            } else if meta.path.is_ident("example") {
                example = Some(text(&meta)?);
            } else if meta.path.is_ident("shorthand") {
                is_shorthand = true;
            } else {
                return Err(meta.error("expected tag, default, source, example or shorthand"));
            }
            Ok(())
        })?;
    }
    let name = name.ok_or_else(|| Error::new_spanned(&input.ident, "expected #[keys(tag = \"...\")]"))?;
    Ok(Tag { name, default, source, example, is_shorthand })
}
