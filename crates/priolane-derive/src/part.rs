//! Implements `#[derive(Part)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{DeriveInput, Error, Ident, LitStr, Path, Result, Token, bracketed};

use crate::fields::doc;

#[derive(Default)]
struct PartAttributes {
    name: Option<LitStr>,
    notation: Option<Ident>,
    summary: Option<LitStr>,
    source: Option<LitStr>,
    requires: Vec<Ident>,
    provides: Vec<Ident>,
    findings: Option<Path>,
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let stated = stated(input)?;
    let name = stated.name.ok_or_else(|| Error::new_spanned(input, "expected #[part(name = \"...\")]"))?;
    let source =
        stated.source.ok_or_else(|| Error::new_spanned(input, "expected #[part(source = \"...\")]"))?;
    let summary = stated.summary.map_or_else(|| doc(&input.attrs), |summary| summary.value());
    let (requires, provides) = (&stated.requires, &stated.provides);
    let notation = stated
        .notation
        .map(|notation| quote!(const NOTATION: ::priolane_core::part::Notation = ::priolane_core::part::Notation::#notation;));
    let findings = stated.findings.map(|findings| {
        quote! {
            fn findings(
                &self,
                network: &::priolane_core::finding::NetworkFacts<'_>,
            ) -> ::std::vec::Vec<::priolane_core::finding::Finding> {
                #findings(self, network)
            }
        }
    });
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!(::priolane_core::keys::Keys));
    }
    let (of, arguments, bounded) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #of ::priolane_core::part::Part for #ident #arguments #bounded {
            const NAME: &'static str = #name;
            #notation
            const SUMMARY: &'static str = #summary;
            const SOURCE: &'static str = #source;
            const REQUIRES: &'static [::priolane_core::part::Capability] =
                &[#(::priolane_core::part::Capability::#requires),*];
            const PROVIDES: &'static [::priolane_core::part::Capability] =
                &[#(::priolane_core::part::Capability::#provides),*];
            #findings
        }
    })
}

fn stated(input: &DeriveInput) -> Result<PartAttributes> {
    let mut stated = PartAttributes::default();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("part")) {
        attribute.parse_nested_meta(|meta| {
            let list = |meta: &syn::meta::ParseNestedMeta<'_>| -> Result<Vec<Ident>> {
                let inside;
                let value = meta.value()?;
                bracketed!(inside in value);
                Ok(Punctuated::<Ident, Token![,]>::parse_terminated(&inside)?.into_iter().collect())
            };
            match meta.path.require_ident()?.to_string().as_str() {
                "name" => stated.name = Some(meta.value()?.parse()?),
                "notation" => stated.notation = Some(meta.value()?.parse()?),
                "summary" => stated.summary = Some(meta.value()?.parse()?),
                "source" => stated.source = Some(meta.value()?.parse()?),
                "requires" => stated.requires = list(&meta)?,
                "provides" => stated.provides = list(&meta)?,
                "findings" => stated.findings = Some(meta.value()?.parse()?),
                _ => {
                    let names = "name, notation, summary, source, requires, provides or findings";
                    return Err(meta.error(format!("expected {names}")));
                }
            }
            Ok(())
        })?;
    }
    Ok(stated)
}
