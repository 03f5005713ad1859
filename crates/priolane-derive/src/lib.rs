//! Derive macros that generate the reader, writer, defaults and documentation of a part from one declaration.
//!
//! The traits implemented here are in `priolane_core::keys`, which also documents the attributes.

mod code_id;
mod fields;
mod interval;
mod keys;
mod one_of;
mod part;
mod tagged;
mod words;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, parse_macro_input};

/// Implements `Keys` and `serde::Serialize` for a struct whose fields are keys of a file, or for an enum of such
/// structs whose variant is selected by a word or a key.
#[proc_macro_derive(Keys, attributes(keys, key, word))]
pub fn derive_keys(input: TokenStream) -> TokenStream {
    answer(expand_keys(&parse_macro_input!(input as DeriveInput)))
}

/// Implements `KeyValue` and `serde::Serialize` for an enum of unit variants that are words in files.
#[proc_macro_derive(Words, attributes(word))]
pub fn derive_words(input: TokenStream) -> TokenStream {
    answer(words::expand(&parse_macro_input!(input as DeriveInput)))
}

/// Implements `Part` for a struct of keys: its name in files, what it requires of other parts and what it provides to
/// them.
#[proc_macro_derive(Part, attributes(part))]
pub fn derive_part(input: TokenStream) -> TokenStream {
    answer(part::expand(&parse_macro_input!(input as DeriveInput)))
}

/// Returns a hash, of type `u64`, of the Rust tokens in the `src` folder of the calling crate. Comments do not affect
/// it.
#[proc_macro]
pub fn code_id(_: TokenStream) -> TokenStream {
    code_id::expand().into()
}

fn expand_keys(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    match &input.data {
        Data::Struct(data) => keys::expand(input, data),
        Data::Enum(data) if one_of::is_one_of(input)? => one_of::expand(input, data),
        Data::Enum(data) => tagged::expand(input, data),
        Data::Union(_) => {
            Err(syn::Error::new_spanned(input, "expected a struct of keys or an enum of such structs"))
        }
    }
}

fn answer(expanded: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}
