//! Writes the implementations.

use heck::ToSnakeCase;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Expr, ExprLit, Field, Fields, Lit};

use crate::attribute::{Options, doc};

pub(crate) fn model(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new_spanned(&input.ident, "Model is for structs"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "Model is for structs with named fields",
        ));
    };
    let mut attributes = Vec::new();
    let (mut names, mut idents, mut flattened) = (Vec::new(), Vec::new(), Vec::new());
    for field in &fields.named {
        let options = Options::read(field)?;
        let Some(ident) = field.ident.as_ref() else {
            continue;
        };
        if options.flatten {
            let ty = &field.ty;
            attributes.push(quote!(<#ty as ::tfplugin::Model>::attributes()));
            flattened.push(ident);
            continue;
        }
        let name = options
            .rename
            .as_ref()
            .map_or_else(|| ident.unraw().to_string().to_snake_case(), syn::LitStr::value);
        let attribute = attribute(field, &name, &options);
        attributes.push(quote!(::std::vec![#attribute]));
        names.push(name);
        idents.push(ident);
    }
    let local = |ident: &&syn::Ident| format_ident!("field_{}", ident.unraw());
    let locals: Vec<_> = idents.iter().map(local).collect();
    let flattened_locals: Vec<_> = flattened.iter().map(local).collect();
    let (ident, description) = (&input.ident, doc(&input.attrs));
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::tfplugin::AttributeValue for #ident #type_generics #where_clause {
            type Inner = Self;

            fn shape() -> ::tfplugin::schema::Shape {
                ::tfplugin::schema::Shape::Nested(
                    ::tfplugin::schema::Nesting::Single,
                    <Self as ::tfplugin::Model>::attributes(),
                )
            }

            fn from_value(
                value: &::tfplugin::value::Value,
                path: &::tfplugin::AttributePath,
            ) -> ::core::result::Result<Self, ::tfplugin::ConvertError> {
                let mut object = ::tfplugin::model::derive::Object::new(value, path)?;
                #(let #locals = object.field(#names);)*
                #(let #flattened_locals = object.flattened();)*
                let built = (|| {
                    ::core::option::Option::Some(Self { #(#idents: #locals?,)* #(#flattened: #flattened_locals?,)* })
                })();
                object.finish(built)
            }

            fn to_value(&self) -> ::tfplugin::value::Value {
                let own = ::tfplugin::value::Value::object([
                    #((#names, ::tfplugin::AttributeValue::to_value(&self.#idents))),*
                ]);
                ::tfplugin::model::derive::joined(own, [#(::tfplugin::AttributeValue::to_value(&self.#flattened)),*])
            }
        }

        #[automatically_derived]
        impl #impl_generics ::tfplugin::Model for #ident #type_generics #where_clause {
            fn attributes() -> ::std::vec::Vec<::tfplugin::schema::Attribute> {
                ::core::iter::IntoIterator::into_iter([#(#attributes),*]).flatten().collect()
            }

            fn description() -> &'static str {
                #description
            }
        }
    })
}

fn attribute(field: &Field, name: &str, options: &Options) -> TokenStream {
    let ty = &field.ty;
    let inner = quote!(<#ty as ::tfplugin::AttributeValue>::Inner);
    let mode = mode(options);
    let mut settings = Vec::new();
    let description = &options.description;
    settings.push(quote!(attribute.description = #description.into();));
    for (set, setting) in [
        (options.sensitive, quote!(attribute.sensitive = true;)),
        (options.write_only, quote!(attribute.write_only = true;)),
        (
            options.requires_replace,
            quote!(attribute.behaviour.requires_replace = true;),
        ),
        (
            options.requires_replace_if_configured,
            quote!(attribute.behaviour.requires_replace_if_configured = true;),
        ),
        (
            options.use_state_for_unknown,
            quote!(attribute.behaviour.use_state_for_unknown = true;),
        ),
        (
            options.json_skip,
            quote!(attribute.json = ::tfplugin::schema::JsonName::Skipped;),
        ),
    ] {
        if set {
            settings.push(setting);
        }
    }
    if let Some(json) = &options.json {
        settings.push(quote!(attribute.json = ::tfplugin::schema::JsonName::Named(#json.into());));
    }
    if let Some(deprecated) = &options.deprecated {
        settings.push(quote!(attribute.deprecated = ::core::option::Option::Some(#deprecated.into());));
    }
    if let Some(default) = &options.default {
        let default = convert(default);
        settings.push(quote! {
            let default: #inner = #default;
            attribute.behaviour.default = ::core::option::Option::Some(::tfplugin::AttributeValue::to_value(&default));
        });
    }
    for validator in &options.validators {
        settings.push(quote! {
            attribute.behaviour.validators.push(::tfplugin::model::derive::validator::<#inner, _, _>(#validator));
        });
    }
    if let Some(equivalent) = &options.equivalent {
        settings.push(quote! {
            attribute.behaviour.equivalent =
                ::core::option::Option::Some(::tfplugin::model::derive::equivalence::<#inner, _, _>(#equivalent));
        });
    }
    for modifier in &options.modifiers {
        settings.push(quote!(attribute.behaviour.modifiers.push(::std::sync::Arc::new(#modifier));));
    }
    quote! {{
        let mut attribute =
            ::tfplugin::schema::Attribute::new(#name, <#ty as ::tfplugin::AttributeValue>::shape(), #mode);
        #(#settings)*
        attribute
    }}
}

fn mode(options: &Options) -> TokenStream {
    let mode = match options {
        Options { required: true, .. } => quote!(Required),
        Options { default: Some(_), .. }
        | Options {
            optional: true,
            computed: true,
            ..
        } => quote!(OptionalComputed),
        Options { computed: true, .. } => quote!(Computed),
        _ => quote!(Optional),
    };
    quote!(::tfplugin::schema::Mode::#mode)
}

/// A text literal becomes whatever the attribute holds; anything else must have its type.
fn convert(default: &Expr) -> TokenStream {
    match default {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => quote!(::core::convert::Into::into(#default)),
        other => quote!(#other),
    }
}
