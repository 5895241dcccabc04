//! Reads `#[tf(...)]` and doc comments.

use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Field, Lit, LitStr, Meta, Token, parenthesized};

/// What one field says.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) description: String,
    pub(crate) required: bool,
    pub(crate) optional: bool,
    pub(crate) computed: bool,
    pub(crate) sensitive: bool,
    pub(crate) write_only: bool,
    pub(crate) deprecated: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) validators: Vec<Expr>,
    pub(crate) requires_replace: bool,
    pub(crate) requires_replace_if_configured: bool,
    pub(crate) use_state_for_unknown: bool,
    pub(crate) equivalent: Option<Expr>,
    pub(crate) modifiers: Vec<Expr>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) json: Option<LitStr>,
    pub(crate) json_skip: bool,
    pub(crate) flatten: bool,
}

impl Options {
    pub(crate) fn read(field: &Field) -> syn::Result<Self> {
        let mut options = Self {
            description: doc(&field.attrs),
            ..Self::default()
        };
        for attribute in field
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("tf"))
        {
            attribute.parse_nested_meta(|meta| options.option(&meta))?;
        }
        options.check(field)?;
        Ok(options)
    }

    fn option(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let name = meta.path.require_ident()?.unraw().to_string();
        match name.as_str() {
            "required" => self.required = true,
            "optional" => self.optional = true,
            "computed" => self.computed = true,
            "sensitive" => self.sensitive = true,
            "write_only" => self.write_only = true,
            "requires_replace" => self.requires_replace = true,
            "requires_replace_if_configured" => self.requires_replace_if_configured = true,
            "use_state_for_unknown" => self.use_state_for_unknown = true,
            "json_skip" => self.json_skip = true,
            "flatten" => self.flatten = true,
            "deprecated" => self.deprecated = Some(meta.value()?.parse()?),
            "default" => self.default = Some(meta.value()?.parse()?),
            "equivalent" => self.equivalent = Some(meta.value()?.parse()?),
            "modify" => self.modifiers.push(meta.value()?.parse()?),
            "rename" => self.rename = Some(meta.value()?.parse()?),
            "json" => self.json = Some(meta.value()?.parse()?),
            "validate" if meta.input.peek(Token![=]) => self.validators.push(meta.value()?.parse()?),
            "validate" => {
                let list;
                parenthesized!(list in meta.input);
                self.validators
                    .extend(Punctuated::<Expr, Token![,]>::parse_terminated(&list)?);
            }
            _ => {
                return Err(meta.error(
                    "unknown option; expected required, optional, computed, default, sensitive, write_only, deprecated, validate, \
                     requires_replace, requires_replace_if_configured, use_state_for_unknown, equivalent, modify, rename, json, json_skip or flatten",
                ));
            }
        }
        Ok(())
    }

    /// Whether anything but the description is said.
    fn says_more(&self) -> bool {
        let said = [
            self.required,
            self.optional,
            self.computed,
            self.sensitive,
            self.write_only,
            self.requires_replace,
            self.requires_replace_if_configured,
            self.use_state_for_unknown,
            self.json_skip,
        ];
        said.contains(&true)
            || self.deprecated.is_some()
            || self.default.is_some()
            || self.equivalent.is_some()
            || self.rename.is_some()
            || self.json.is_some()
            || !self.validators.is_empty()
            || !self.modifiers.is_empty()
    }

    fn check(&self, field: &Field) -> syn::Result<()> {
        let problem = match self {
            Self { flatten: true, .. } if self.says_more() => {
                "flatten stands alone: what is said of an attribute is said in the model that is flattened"
            }
            Self {
                required: true,
                optional: true,
                ..
            } => "an attribute is required or optional, not both",
            Self {
                required: true,
                computed: true,
                ..
            } => "a required attribute cannot be computed",
            Self {
                required: true,
                default: Some(_),
                ..
            } => "a required attribute cannot have a default",
            Self {
                write_only: true,
                computed: true,
                ..
            }
            | Self {
                write_only: true,
                default: Some(_),
                ..
            } => "a write-only attribute cannot be computed or have a default",
            Self {
                json: Some(_),
                json_skip: true,
                ..
            } => "an attribute has a JSON name or is skipped, not both",
            _ => return Ok(()),
        };
        Err(syn::Error::new_spanned(field, problem))
    }
}

/// The text of a doc comment, one leading space of each line removed.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text), ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned())
        .collect();
    lines.join("\n").trim().to_owned()
}
