//! `#[derive(Keys)]` of an enum: a word says which variant, whose keys stand beside it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, LitStr, Result, Type, Variant};

use crate::fields::doc;
use crate::words::word;

/// What the enum states: `#[keys(tag = "expiry", default = "switch", example = "...")]`.
struct Tag {
    name: String,
    default: Option<String>,
    source: String,
}

pub(crate) fn expand(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let tag = tag(input)?;
    let (name, key, source, meaning) = (&input.ident, &tag.name, &tag.source, doc(&input.attrs));
    let variants = data.variants.iter().map(|variant| Ok((variant, word(variant)?, content(variant)?)));
    let variants = variants.collect::<Result<Vec<_>>>()?;
    let words: Vec<&String> = variants.iter().map(|(_, word, _)| word).collect();
    let places = 0..variants.len();
    let reads = variants.iter().enumerate().map(|(i, (variant, _, content))| {
        let ident = &variant.ident;
        match content {
            Some(ty) => quote!(#i => Self::#ident(<#ty as ::priolane_core::keys::Keys>::read(table)?)),
            None => quote!(#i => Self::#ident),
        }
    });
    let writes = variants.iter().map(|(variant, word, content)| {
        let ident = &variant.ident;
        let tag = quote!(out.push((#key, #word.into())));
        match content {
            Some(_) => {
                quote!(Self::#ident(inner) => { #tag; ::priolane_core::keys::Keys::write(inner, out); })
            }
            None => quote!(Self::#ident => { #tag; }),
        }
    });
    let describes = variants.iter().filter_map(|(_, _, content)| content.as_ref());
    let describes = describes.map(|ty| quote!(<#ty as ::priolane_core::keys::Keys>::describe(out);));
    let meanings = variants.iter().map(|(variant, word, _)| {
        let meaning = doc(&variant.attrs);
        quote!((#word, #meaning))
    });
    let arms = variants.iter().map(|(variant, word, content)| {
        let ident = &variant.ident;
        let pattern = if content.is_some() { quote!(Self::#ident(_)) } else { quote!(Self::#ident) };
        quote!(#pattern => #word)
    });
    let default = tag.default.as_ref();
    let absent = match default {
        Some(default) => {
            let place = words.iter().position(|word| *word == default);
            let place = place.ok_or_else(|| Error::new_spanned(input, "the default is one of the words"))?;
            quote!(#place)
        }
        None => {
            let example = format!("{key} = {:?}", words.first().map_or("", |word| word.as_str()));
            quote!(return Err(table.missing(#key, #example)))
        }
    };
    let shown = default.map_or(String::new(), Clone::clone);
    let required = default.is_none();
    Ok(quote! {
        #[automatically_derived]
        impl #name {
            /// The word of files.
            pub const fn word(&self) -> &'static str {
                match self { #(#arms),* }
            }
        }

        #[automatically_derived]
        impl ::priolane_core::keys::Keys for #name {
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

            fn write(&self, out: &mut ::priolane_core::keys::Pairs) {
                match self { #(#writes)* }
            }

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
                    word: None,
                    schema: ::priolane_core::keys::Schema::Words(&[#(#meanings),*]),
                });
                #(#describes)*
            }
        }

        #[automatically_derived]
        impl ::serde::Serialize for #name {
            fn serialize<S: ::serde::Serializer>(&self, s: S) -> ::core::result::Result<S::Ok, S::Error> {
                ::priolane_core::keys::serialize(self, s)
            }
        }
    })
}

/// The struct of keys in a variant; `None` for one without keys.
fn content(variant: &Variant) -> Result<Option<Type>> {
    match &variant.fields {
        Fields::Unit => Ok(None),
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(Some(fields.unnamed[0].ty.clone())),
        Fields::Unnamed(_) | Fields::Named(_) => {
            Err(Error::new_spanned(variant, "a variant has one struct of keys, or none"))
        }
    }
}

fn tag(input: &DeriveInput) -> Result<Tag> {
    let (mut name, mut default, mut source) = (None, None, String::new());
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
            } else {
                return Err(meta.error("tag, default or source"));
            }
            Ok(())
        })?;
    }
    let name = name.ok_or_else(|| Error::new_spanned(&input.ident, "#[keys(tag = \"...\")]"))?;
    Ok(Tag { name, default, source })
}
