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
    deploy: Vec<Ident>,
    linux: Option<LitStr>,
    serves: Option<LitStr>,
    lacks: Option<LitStr>,
    paths: Option<Ident>,
    on_hosts: Vec<LitStr>,
    example: Option<LitStr>,
    beside: Option<LitStr>,
    variant: Option<LitStr>,
    findings: Option<Path>,
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let stated = stated(input)?;
    let name =
        stated.name.as_ref().ok_or_else(|| Error::new_spanned(input, "expected #[part(name = \"...\")]"))?;
    let source = stated
        .source
        .as_ref()
        .ok_or_else(|| Error::new_spanned(input, "expected #[part(source = \"...\")]"))?;
    let summary = stated.summary.as_ref().map_or_else(|| doc(&input.attrs), |summary| summary.value());
    let (requires, provides) = (&stated.requires, &stated.provides);
    let notation = stated
        .notation
        .as_ref()
        .map(|notation| quote!(const NOTATION: ::priolane_core::part::Notation = ::priolane_core::part::Notation::#notation;));
    let findings = stated.findings.as_ref().map(|findings| {
        quote! {
            fn findings(
                &self,
                network: &::priolane_core::finding::NetworkFacts<'_>,
            ) -> ::std::vec::Vec<::priolane_core::finding::Finding> {
                #findings(self, network)
            }
        }
    });
    let (deployment, example) = (deployment(&stated), example(&stated));
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
            const DEPLOYMENT: ::priolane_core::deployment::Deployment = #deployment;
            const EXAMPLE: ::priolane_core::example::Example = #example;
            #findings
        }
    })
}

/// Returns the value of a text that may be left out.
fn text(stated: &Option<LitStr>) -> String {
    stated.as_ref().map_or_else(String::new, LitStr::value)
}

/// Returns the value of `Part::EXAMPLE`.
fn example(stated: &PartAttributes) -> TokenStream {
    let [keys, beside, variant] = [&stated.example, &stated.beside, &stated.variant].map(text);
    quote!(::priolane_core::example::Example { keys: #keys, beside: #beside, variant: #variant })
}

/// Returns the value of `Part::DEPLOYMENT`.
fn deployment(stated: &PartAttributes) -> TokenStream {
    let PartAttributes { deploy, on_hosts, .. } = stated;
    let optional = |text: &Option<LitStr>| match text {
        Some(text) => quote!(::std::option::Option::Some(#text)),
        None => quote!(::std::option::Option::None),
    };
    let (linux, serves, lacks) = (optional(&stated.linux), text(&stated.serves), text(&stated.lacks));
    let paths = stated.paths.clone().unwrap_or_else(|| Ident::new("Nothing", proc_macro2::Span::call_site()));
    quote! {
        ::priolane_core::deployment::Deployment {
            needs: &[#(::priolane_core::deployment::Need::#deploy),*],
            linux: #linux,
            serves: #serves,
            lacks: #lacks,
            paths: ::priolane_core::deployment::PathKnowledge::#paths,
            on_hosts: &[#(#on_hosts),*],
        }
    }
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
            let texts = |meta: &syn::meta::ParseNestedMeta<'_>| -> Result<Vec<LitStr>> {
                let inside;
                let value = meta.value()?;
                bracketed!(inside in value);
                Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&inside)?.into_iter().collect())
            };
            match meta.path.require_ident()?.to_string().as_str() {
                "name" => stated.name = Some(meta.value()?.parse()?),
                "notation" => stated.notation = Some(meta.value()?.parse()?),
                "summary" => stated.summary = Some(meta.value()?.parse()?),
                "source" => stated.source = Some(meta.value()?.parse()?),
                "requires" => stated.requires = list(&meta)?,
                "provides" => stated.provides = list(&meta)?,
                "deploy" => stated.deploy = list(&meta)?,
                "linux" => stated.linux = Some(meta.value()?.parse()?),
                "serves" => stated.serves = Some(meta.value()?.parse()?),
                "lacks" => stated.lacks = Some(meta.value()?.parse()?),
                "paths" => stated.paths = Some(meta.value()?.parse()?),
                "on_hosts" => stated.on_hosts = texts(&meta)?,
                "example" => stated.example = Some(meta.value()?.parse()?),
                "beside" => stated.beside = Some(meta.value()?.parse()?),
                "variant" => stated.variant = Some(meta.value()?.parse()?),
                "findings" => stated.findings = Some(meta.value()?.parse()?),
                _ => {
                    let names = "name, notation, summary, source, requires, provides, deploy, linux, serves, lacks, \
                                 paths, on_hosts, example, beside, variant or findings";
                    return Err(meta.error(format!("expected {names}")));
                }
            }
            Ok(())
        })?;
    }
    Ok(stated)
}
