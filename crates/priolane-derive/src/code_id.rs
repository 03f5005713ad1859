//! Computes a 64-bit code id: a hash of the tokens of a crate's sources.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// Expands to the code id of the crate being compiled, an expression of type `u64`.
pub(crate) fn expand() -> TokenStream {
    match of_crate() {
        Ok((id, files)) => {
            // `include_bytes!` makes rustc recompile the crate when one of these files changes.
            let files = files.iter().map(|file| file.display().to_string());
            quote! {{
                const _: &[&[u8]] = &[#(::core::include_bytes!(#files)),*];
                #id
            }}
        }
        Err(error) => {
            let message = format!("code_id: {error}");
            quote! { ::core::compile_error!(#message) }
        }
    }
}

fn of_crate() -> io::Result<(u64, Vec<PathBuf>)> {
    let root = std::env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let mut files = Vec::new();
    collect(&Path::new(&root).join("src"), &mut files)?;
    files.sort();
    let mut id = Fnv::default();
    for file in &files {
        let text = fs::read_to_string(file)?;
        let tokens: TokenStream = text.parse().map_err(|error| io::Error::other(format!("{error}")))?;
        hash(tokens, &mut id);
    }
    Ok((id.0, files))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Hashes tokens, skipping doc comments and their attributes.
fn hash(tokens: TokenStream, id: &mut Fnv) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let inner = matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
                let mark = if inner { tokens.next() } else { None };
                match tokens.peek() {
                    Some(TokenTree::Group(group)) if is_doc(group.stream()) => {
                        tokens.next();
                    }
                    _ => {
                        id.add("#");
                        mark.iter().for_each(|_| id.add("!"));
                    }
                }
            }
            TokenTree::Group(group) => {
                id.add(&format!("{:?}", group.delimiter()));
                hash(group.stream(), id);
                id.add("end");
            }
            other => id.add(&other.to_string()),
        }
    }
}

fn is_doc(attribute: TokenStream) -> bool {
    matches!(attribute.into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

/// 64-bit FNV-1a hash over strings, each followed by a zero byte.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, word: &str) {
        for byte in word.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> u64 {
        let mut id = Fnv::default();
        hash(text.parse().unwrap(), &mut id);
        id.0
    }

    #[test]
    fn code_counts_and_comments_do_not() {
        let code = "fn f(x: u64) -> u64 { x * 2 }";
        assert_eq!(id("/// Doubles.\nfn f(x: u64) -> u64 { x * 2 // twice\n }"), id(code));
        assert_eq!(id("//! A module.\nfn f(x: u64)\n-> u64 {\n x * 2 }"), id(code));
        assert_ne!(id("fn f(x: u64) -> u64 { x * 3 }"), id(code));
        assert_ne!(id("#[inline] fn f(x: u64) -> u64 { x * 2 }"), id(code));
        assert_ne!(id("#![no_std] fn f(x: u64) -> u64 { x * 2 }"), id(code));
    }
}
