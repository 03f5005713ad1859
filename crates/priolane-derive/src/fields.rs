//! Parses the attributes of one field of a struct that derives `Keys`.

use syn::{Attribute, Error, Expr, Field, Ident, Lit, LitStr, Meta, Path, Result, Token, Type, Variant};

/// The role of a field in a struct of keys.
pub(crate) enum Role {
    /// A key of the file.
    Key(Box<Key>),
    /// A nested struct whose keys belong to the same table, with defaults that override its own.
    Flatten(Vec<(String, LitStr)>),
    /// Not a key: the value is set when a run is built.
    Skip(Option<Expr>),
}

/// A key, with its reader, writer and documentation.
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) meaning: String,
    /// Group of the key, if it differs from that of the struct.
    pub(crate) group: Option<LitStr>,
    pub(crate) unit: Option<LitStr>,
    pub(crate) source: Option<LitStr>,
    pub(crate) range: Option<LitStr>,
    /// `Form` that reads and writes the value, if it is not `Plain`.
    pub(crate) form: Option<Path>,
    pub(crate) presence: Presence,
    /// For an `Option`: the word that is read and written as `None`, if any, and the literal that is also read as
    /// `None`.
    pub(crate) none: Option<(Option<&'static str>, Lit)>,
    /// Description of a default that depends on other keys.
    pub(crate) shown: Option<LitStr>,
    /// Whether the key is omitted on output when it has its default value.
    pub(crate) skip_default: bool,
    /// The noun of its texts if they are names, such as `group`.
    pub(crate) names: Option<LitStr>,
}

/// The reaction to a file that does not contain the key.
pub(crate) enum Presence {
    /// An error; the string is an example of the key for the message.
    Required(LitStr),
    /// The field takes this value.
    Default(Expr),
    /// The field is `None`, which is not written.
    Optional,
}

impl Role {
    pub(crate) fn of(field: &Field) -> Result<Self> {
        for attribute in &field.attrs {
            if attribute.path().is_ident("keys") {
                return whole(attribute);
            }
        }
        let found = field.attrs.iter().find(|attribute| attribute.path().is_ident("key"));
        let name = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "expected a named field"))?;
        let Some(attribute) = found else {
            return Err(Error::new_spanned(field, "expected #[key(...)], #[keys(flatten)] or #[keys(skip)]"));
        };
        Key::read(attribute, name, doc(&field.attrs)).map(|key| Self::Key(Box::new(key)))
    }
}

fn whole(attribute: &Attribute) -> Result<Role> {
    let mut role = None;
    let mut defaults = Vec::new();
    attribute.parse_nested_meta(|meta| {
        if meta.path.is_ident("flatten") {
            role = Some(Role::Flatten(Vec::new()));
        } else if meta.path.is_ident("skip") {
            let given = if meta.input.peek(Token![=]) { Some(meta.value()?.parse()?) } else { None };
            role = Some(Role::Skip(given));
        } else if meta.path.is_ident("defaults") {
            meta.parse_nested_meta(|inner| {
                let key = inner.path.require_ident()?.to_string();
                defaults.push((key, inner.value()?.parse::<LitStr>()?));
                Ok(())
            })?;
        } else {
            return Err(meta.error("expected flatten, defaults(...) or skip"));
        }
        Ok(())
    })?;
    match role {
        Some(Role::Flatten(_)) => Ok(Role::Flatten(defaults)),
        Some(role) => Ok(role),
        None => Err(Error::new_spanned(attribute, "expected flatten or skip")),
    }
}

impl Key {
    /// Parses the key that a variant with one unnamed field declares; it is named `word`.
    pub(crate) fn of_variant(variant: &Variant, word: &str) -> Result<Self> {
        let found = variant.attrs.iter().find(|attribute| attribute.path().is_ident("key"));
        let attribute = found.ok_or_else(|| Error::new_spanned(variant, "expected #[key(...)]"))?;
        let key = Self::read(attribute, &variant.ident, doc(&variant.attrs))?;
        Ok(Self { name: word.to_owned(), ..key })
    }

    fn read(attribute: &Attribute, field: &Ident, meaning: String) -> Result<Self> {
        let mut key = Self {
            name: field.to_string(),
            meaning,
            group: None,
            unit: None,
            source: None,
            range: None,
            form: None,
            presence: Presence::Optional,
            none: None,
            shown: None,
            skip_default: false,
            names: None,
        };
        let mut presence = None;
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.require_ident()?.to_string();
            match name.as_str() {
                "name" => key.name = meta.value()?.parse::<LitStr>()?.value(),
                "group" => key.group = Some(meta.value()?.parse()?),
                "unit" => key.unit = Some(meta.value()?.parse()?),
                "source" => key.source = Some(meta.value()?.parse()?),
                "range" => key.range = Some(meta.value()?.parse()?),
                "form" => key.form = Some(meta.value()?.parse()?),
                "shown" => key.shown = Some(meta.value()?.parse()?),
                "skip_default" => key.skip_default = true,
                "names" => key.names = Some(meta.value()?.parse()?),
                "default" => presence = Some(Presence::Default(meta.value()?.parse()?)),
                "required" => presence = Some(Presence::Required(meta.value()?.parse()?)),
                "auto" => key.none = Some((Some("auto"), meta.value()?.parse()?)),
                "off" => key.none = Some((Some("off"), meta.value()?.parse()?)),
                "none" => key.none = Some((None, meta.value()?.parse()?)),
                "optional" => presence = Some(Presence::Optional),
                _ => return Err(meta.error("unknown attribute of a key")),
            }
            Ok(())
        })?;
        let nothing = key.none.as_ref().map(|_| Presence::Default(syn::parse_quote!(None)));
        key.presence = presence.or(nothing).ok_or_else(|| {
            Error::new_spanned(
                attribute,
                "expected default = ..., required = \"...\", auto = ..., off = ..., none = ... or optional",
            )
        })?;
        Ok(key)
    }
}

/// Returns the doc comment as one line, without its final period.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(line);
    let text = lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>().join(" ");
    text.trim().strip_suffix('.').unwrap_or(text.trim()).to_owned()
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(literal) = &meta.value else { return None };
    let Lit::Str(text) = &literal.lit else { return None };
    Some(text.value())
}

/// Returns the `T` of `Option<T>`.
pub(crate) fn inside_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}
