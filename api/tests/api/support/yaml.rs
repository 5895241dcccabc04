//! The CRDs as files.

/// File name and YAML of each CRD.
pub(crate) fn crd_files() -> Vec<(String, String)> {
    joiner_api::crds()
        .into_iter()
        .map(|crd| {
            let name = format!("{}_{}.yaml", crd.spec.group, crd.spec.names.plural);
            let body = serde_saphyr::to_string(&crd).expect("a CRD is plain data");
            (
                name,
                format!("# Made from the types in api/ by its example `crds`; do not edit.\n{body}"),
            )
        })
        .collect()
}
