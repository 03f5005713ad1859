//! Parses numeric intervals of attributes, such as `"(0, 1]"`, `"[1, 255]"` and `"(0, )"`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, LitStr, Result};

/// Returns the expression of type `priolane_core::keys::Bounds` for `text`; without a text, any number is allowed.
pub(crate) fn bounds(text: Option<&LitStr>) -> Result<TokenStream> {
    let Some(text) = text else { return Ok(quote!(::priolane_core::keys::Bounds::ANY)) };
    let written = text.value();
    let bad =
        || Error::new(text.span(), "expected an interval such as \"(0, 1]\", \"[1, 255]\" or \"(0, )\"");
    let (low, high) = written.split_once(',').ok_or_else(bad)?;
    let low = end(low.strip_prefix('('), low.strip_prefix('[')).ok_or_else(bad)?;
    let high = end(high.strip_suffix(')'), high.strip_suffix(']')).ok_or_else(bad)?;
    Ok(quote!(::priolane_core::keys::Bounds { low: #low, high: #high, text: #written }))
}

/// Parses one end, excluded (`open`) or included (`closed`); an empty open end is unbounded.
fn end(open: Option<&str>, closed: Option<&str>) -> Option<TokenStream> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    match (open.map(str::trim), closed) {
        (Some(""), _) => Some(quote!(::priolane_core::keys::Bound::None)),
        (Some(text), _) => number(text).map(|x| quote!(::priolane_core::keys::Bound::Excluded(#x))),
        (None, Some(text)) => number(text).map(|x| quote!(::priolane_core::keys::Bound::Included(#x))),
        (None, None) => None,
    }
}
