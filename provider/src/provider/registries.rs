//! The registries of the provider block.

use super::configure::{expand, text};
use super::data::Part;
use super::settings::{RegistrySettings, Settings};
use crate::cluster::{Secret, pem};
use crate::helm::{Registries, Registry, place_of};
use tfplugin::{AttributePath, AttributeValue as _, Diagnostics, Field};

/// The registries, as far as they are known.
pub(super) fn registries(config: &Settings) -> Part<Registries> {
    if !config.registries.to_value().is_wholly_known() || config.registry_config_path.is_unknown() {
        return Part::Unknown;
    }
    let list = config.registries.known().into_iter().flatten();
    match list.map(registry).collect() {
        Ok(list) => Part::Known(Registries {
            list,
            file: config.registry_config_path.as_str().map(expand),
        }),
        Err((attribute, problem)) => Part::Broken(format!("registries: {attribute}: {problem}")),
    }
}

fn registry(block: &RegistrySettings) -> Result<Registry, (&'static str, String)> {
    let RegistrySettings {
        url,
        username,
        password,
        ca_certificate,
        insecure,
        plain_http,
    } = block;
    let is_on = |flag: &Field<bool>| flag.known().copied().unwrap_or(false);
    let ca_certificate = ca_certificate.as_str().map(pem).transpose();
    Ok(Registry {
        place: place_of(url.as_str().unwrap_or_default()).map_err(|problem| ("url", problem))?,
        login: text(username).zip(password.as_str().map(Secret::new)),
        ca_certificate: ca_certificate.map_err(|problem| ("ca_certificate", problem))?,
        insecure: is_on(insecure),
        plain_http: is_on(plain_http),
    })
}

/// What is wrong with the registries, as far as they are known.
pub(super) fn check(config: &Settings, found: &mut Diagnostics) {
    for (index, block) in config.registries.known().into_iter().flatten().enumerate() {
        let base = AttributePath::from("registries").index(index);
        let RegistrySettings {
            url,
            username,
            password,
            plain_http,
            insecure,
            ca_certificate,
        } = block;
        if let (true, Err((attribute, problem))) = (url.is_known(), registry(block)) {
            found.error_at(base.attribute(attribute), "Not a registry", format!("{problem}."));
        }
        if username.is_null() != password.is_null() && !username.is_unknown() && !password.is_unknown() {
            let missing = if password.is_null() {
                "password"
            } else {
                "username"
            };
            found.error_at(
                base.attribute(missing),
                "Half a login",
                format!("username and password go together. Set {missing}, too."),
            );
        }
        if plain_http.known() == Some(&true) && (ca_certificate.is_known() || insecure.known() == Some(&true))
        {
            found.error_at(
                base.attribute("plain_http"),
                "HTTP has no certificates",
                "plain_http is true, and ca_certificate or insecure says how a certificate is checked. Remove one of them.",
            );
        }
    }
}
