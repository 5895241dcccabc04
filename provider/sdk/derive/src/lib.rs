//! `#[derive(Model)]`: a Terraform schema and its conversions from one Rust struct.

mod attribute;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `tfplugin::Model` for a struct with named fields.
///
/// The struct's doc comment describes it, each field's doc comment its attribute. A field is usually a `Field<T>`, with `T` a
/// string, bool, number, another model, or a `Vec`, `Set`, `BTreeSet` or `BTreeMap<String, _>` of these. Options of a field, in
/// `#[tf(...)]`:
///
/// - `required`, `optional` (the default), `computed`, `optional, computed`
/// - `default = EXPR`: what it is when not configured; makes it optional and computed
/// - `sensitive`, `write_only`, `deprecated = "what to use instead"`
/// - `validate = EXPR`, `validate(EXPR, EXPR)`: functions `Fn(&T) -> Result<(), String>`; for text `Fn(&str)`
/// - `requires_replace`, `requires_replace_if_configured`
/// - `use_state_for_unknown`: an update keeps the computed value
/// - `equivalent = FN`: `Fn(&T, &T) -> bool`; a value that means the same keeps the state's spelling
/// - `modify = FN`: `Fn(&ModifyRequest) -> Value`
/// - `rename = "name"`: another attribute name than the field's
/// - `json = "name"`, `json_skip`: its name in `tfplugin::json`
/// - `flatten`: the field is a model (not a `Field`), and its attributes are the struct's own
#[proc_macro_derive(Model, attributes(tf))]
pub fn derive_model(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::model(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
