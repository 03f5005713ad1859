//! Implements `#[derive(Keys)]` for structs.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DataStruct, DeriveInput, Error, ExprPath, Fields, Ident, LitStr, Result, Type};

use crate::fields::{Key, Presence, Role, inside_option};
use crate::interval::bounds;

/// A field: its name, type and role.
pub(crate) struct Member {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) role: Role,
}

/// Attributes of the whole struct: `#[keys(group = "swift", check = Self::check)]`.
#[derive(Default)]
struct Whole {
    group: Option<String>,
    check: Option<ExprPath>,
    /// The check is also told which keys the file states.
    check_stated: Option<ExprPath>,
    /// The key that a value which is no table stands for.
    shorthand: Option<LitStr>,
}

pub(crate) fn expand(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream> {
    let members = members(&data.fields)?;
    let whole = whole(input)?;
    let name = &input.ident;
    let group = whole.group.unwrap_or_else(|| name.to_string());
    let check = match (whole.check, whole.check_stated) {
        (Some(check), _) => Some(quote!(#check(&mut read))),
        (None, Some(check)) => Some(quote!(#check(&mut read, &|key: &str| table.has(key)))),
        (None, None) => None,
    };
    let as_value = whole.shorthand.map(|key| shorthand(name, &key));
    let reads = members.iter().map(read).collect::<Result<Vec<_>>>()?;
    let writes = members.iter().map(|member| {
        let name = &member.name;
        write(member, &quote!(&self.#name))
    });
    let writes = writes.collect::<Result<Vec<_>>>()?;
    let describes = members.iter().map(describe).collect::<Result<Vec<_>>>()?;
    let names: Vec<&Ident> = members.iter().map(|member| &member.name).collect();
    let checked =
        check.as_ref().map(|check| quote!(if let Err(fault) = #check { return Err(table.refuse(fault)); }));
    let binding = if check.is_some() { quote!(let mut read) } else { quote!(let read) };
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!(::priolane_core::keys::Keys));
    }
    let (of, arguments, bounded) = generics.split_for_impl();
    let all_have_defaults = members.iter().all(|member| !is_required(member));
    let default = all_have_defaults.then(|| {
        quote! {
            #[automatically_derived]
            impl #of Default for #name #arguments #bounded {
                fn default() -> Self {
                    ::priolane_core::keys::with_defaults(&[])
                }
            }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl #of ::priolane_core::keys::Keys for #name #arguments #bounded {
            fn read<T: ::priolane_core::keys::Table>(table: &mut T) -> ::core::result::Result<Self, T::Error> {
                #(#reads)*
                #binding = Self { #(#names),* };
                #checked
                Ok(read)
            }

            fn write(&self, out: &mut ::priolane_core::keys::Pairs) {
                #(#writes)*
            }

            fn describe(out: &mut Vec<::priolane_core::keys::KeyInfo>) {
                #[allow(dead_code, reason = "keys may have their own groups")]
                const GROUP: &str = #group;
                #(#describes)*
            }
        }

        #[automatically_derived]
        impl #of ::priolane_core::serde::Serialize for #name #arguments #bounded {
            fn serialize<S: ::priolane_core::serde::Serializer>(&self, s: S) -> ::core::result::Result<S::Ok, S::Error> {
                ::priolane_core::keys::serialize(self, s)
            }
        }

        #default

        #as_value
    })
}

/// Implements `KeyValue`: a value that is no table stands for a table with only the key `key`.
pub(crate) fn shorthand(name: &Ident, key: &LitStr) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::priolane_core::keys::KeyValue for #name {
            const UNIT: &'static str = "";

            fn read(
                value: &::priolane_core::keys::Value<'_>,
                _: &::priolane_core::keys::Bounds,
            ) -> ::core::result::Result<Self, ::priolane_core::keys::KeyError> {
                ::priolane_core::keys::read_shorthand(value, #key)
            }

            fn write(&self) -> ::priolane_core::keys::WrittenValue {
                ::priolane_core::keys::write_shorthand(self, #key)
            }

            fn schema() -> ::priolane_core::keys::Schema {
                ::priolane_core::keys::schema_with_shorthand::<Self>(#key)
            }
        }
    }
}

pub(crate) fn members(fields: &Fields) -> Result<Vec<Member>> {
    let member = |field: &syn::Field| {
        let name = field.ident.clone().ok_or_else(|| Error::new_spanned(field, "expected a named field"))?;
        Ok(Member { name, ty: field.ty.clone(), role: Role::of(field)? })
    };
    fields.iter().map(member).collect()
}

fn whole(input: &DeriveInput) -> Result<Whole> {
    let mut whole = Whole::default();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("keys")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("group") {
                whole.group = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.path.is_ident("check") {
                whole.check = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("check_stated") {
                whole.check_stated = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("shorthand") {
                whole.shorthand = Some(meta.value()?.parse()?);
            } else {
                return Err(meta.error("expected group, check, check_stated or shorthand"));
            }
            Ok(())
        })?;
    }
    Ok(whole)
}

fn is_required(member: &Member) -> bool {
    matches!(&member.role, Role::Key(key) if matches!(key.presence, Presence::Required(_)))
}

/// Returns the type that the form reads: for an `Option<T>`, `T`.
fn value_type<'m>(member: &'m Member, key: &Key) -> &'m Type {
    let is_option = key.none.is_some() || matches!(key.presence, Presence::Optional);
    if is_option { inside_option(&member.ty).unwrap_or(&member.ty) } else { &member.ty }
}

fn form(member: &Member, key: &Key) -> TokenStream {
    let ty = value_type(member, key);
    match &key.form {
        Some(form) => quote!(<#form as ::priolane_core::keys::Form<#ty>>),
        None => quote!(<::priolane_core::keys::Plain as ::priolane_core::keys::Form<#ty>>),
    }
}

fn optional(word: Option<&str>) -> TokenStream {
    word.map_or_else(|| quote!(None), |word| quote!(Some(#word)))
}

fn absent(key: &Key) -> TokenStream {
    match &key.presence {
        Presence::Default(value) => quote!(#value),
        Presence::Optional => quote!(None),
        Presence::Required(_) => quote!(),
    }
}

pub(crate) fn read(member: &Member) -> Result<TokenStream> {
    let (name, ty) = (&member.name, &member.ty);
    Ok(match &member.role {
        Role::Skip(None) => quote!(let #name: #ty = Default::default();),
        Role::Skip(Some(value)) => quote!(let #name: #ty = #value;),
        Role::Flatten(defaults) if defaults.is_empty() => {
            quote!(let #name = <#ty as ::priolane_core::keys::Keys>::read(table)?;)
        }
        Role::Flatten(defaults) => {
            let pairs = defaults.iter().map(|(key, value)| quote!((#key, #value)));
            quote! {
                let #name = <#ty as ::priolane_core::keys::Keys>::read(
                    &mut ::priolane_core::keys::WithDefaults::new(table, &[#(#pairs),*]),
                )?;
            }
        }
        Role::Key(key) => read_key(member, key)?,
    })
}

fn read_key(member: &Member, key: &Key) -> Result<TokenStream> {
    let (name, ty, text) = (&member.name, &member.ty, &key.name);
    let bounds = bounds(key.range.as_ref())?;
    let form = form(member, key);
    let read = match (&key.none, &key.presence) {
        (Some((word, literal)), _) => {
            let word = optional(*word);
            let value = value_type(member, key);
            let of =
                key.form.as_ref().map_or_else(|| quote!(::priolane_core::keys::Plain), |form| quote!(#form));
            quote!(::priolane_core::keys::read_option::<#of, #value>(&value, #word, &#literal.into(), &#bounds))
        }
        (None, Presence::Optional) => quote!(#form::read(&value, &#bounds).map(Some)),
        (None, _) => quote!(#form::read(&value, &#bounds)),
    };
    let absent = match &key.presence {
        Presence::Required(example) => quote!(return Err(table.missing(#text, #example))),
        _ => absent(key),
    };
    Ok(quote! {
        let #name: #ty = match table.take(#text, |value| #read)? {
            Some(value) => value,
            None => #absent,
        };
    })
}

/// Generates the code that writes the member; `place` is a reference to its value.
pub(crate) fn write(member: &Member, place: &TokenStream) -> Result<TokenStream> {
    Ok(match &member.role {
        Role::Skip(_) => quote!(),
        Role::Flatten(_) => quote!(::priolane_core::keys::Keys::write(#place, out);),
        Role::Key(key) => {
            let (text, form) = (&key.name, form(member, key));
            let push = match (&key.none, &key.presence) {
                (Some((_, literal)), _) => quote! {
                    out.push((#text, match #place {
                        Some(value) => #form::write(value),
                        None => #literal.into(),
                    }));
                },
                (None, Presence::Optional) => quote! {
                    if let Some(value) = #place {
                        out.push((#text, #form::write(value)));
                    }
                },
                (None, _) => quote!(out.push((#text, #form::write(#place)));),
            };
            match &key.presence {
                Presence::Default(value) if key.skip_default => quote!(if *(#place) != #value { #push }),
                _ => push,
            }
        }
    })
}

pub(crate) fn describe(member: &Member) -> Result<TokenStream> {
    let ty = &member.ty;
    let key = match &member.role {
        Role::Skip(_) => return Ok(quote!()),
        Role::Flatten(defaults) => {
            let pairs = defaults.iter().map(|(key, value)| quote!((#key, #value)));
            return Ok(quote!(::priolane_core::keys::describe_with::<#ty>(out, &[#(#pairs),*]);));
        }
        Role::Key(key) => key,
    };
    let (name, meaning, form) = (&key.name, &key.meaning, form(member, key));
    let value = value_type(member, key);
    let bounds = bounds(key.range.as_ref())?;
    let group = key.group.as_ref().map_or_else(|| quote!(GROUP), |group| quote!(#group));
    let source = key.source.as_ref().map_or_else(String::new, syn::LitStr::value);
    let unit = key.unit.as_ref().map_or_else(|| quote!(#form::UNIT), |unit| quote!(#unit));
    let local = format_ident!("value");
    let default = match (&key.shown, &key.none, &key.presence) {
        (Some(shown), ..) => quote!(#shown.to_owned()),
        (None, Some((word, literal)), Presence::Default(default)) => {
            let none = word.map_or_else(|| quote!(#literal.to_string()), |word| quote!(#word.to_owned()));
            quote!({ let #local: Option<#value> = #default; #local.map_or(#none, |value| #form::write(&value).to_string()) })
        }
        (None, None, Presence::Default(default)) => {
            quote!({ let #local: #value = #default; #form::write(&#local).to_string() })
        }
        (None, ..) => quote!(String::new()),
    };
    let required = matches!(key.presence, Presence::Required(_));
    let naming = key.names.as_ref().map(|noun| quote!(.naming(#noun)));
    let none = match &key.none {
        Some((word, literal)) => {
            let word = optional(*word);
            quote!(Some(::priolane_core::keys::NoValue { word: #word, literal: #literal.into() }))
        }
        None => quote!(None),
    };
    Ok(quote! {
        out.push(::priolane_core::keys::KeyInfo {
            name: #name,
            group: #group,
            meaning: #meaning,
            unit: #unit,
            bounds: #bounds,
            default: #default,
            source: #source,
            required: #required,
            none: #none,
            schema: #form::schema() #naming,
        });
    })
}
