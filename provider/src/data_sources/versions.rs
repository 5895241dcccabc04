//! `joiner_versions`.

use crate::helm::ChartSource;
use crate::provider::Joiner;
use joiner_aws::catalogue::builtin;
use tfplugin::{Context, DataSource, Diagnostics, Field, Model, async_trait};

/// What this provider carries: its own version, that of the controller's chart, the day of the catalogue of instance types. No network is
/// needed.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct VersionsLookup {
    /// Version of the provider, and of the definitions that `joiner_crds` applies.
    #[tf(computed)]
    provider_version: Field<String>,
    /// Version of the chart that `joiner_helm_release` installs by default.
    #[tf(computed)]
    chart_version: Field<String>,
    /// Day of the catalogue of instance types and prices.
    #[tf(computed)]
    catalogue_date: Field<String>,
    /// Regions of the catalogue.
    #[tf(computed)]
    catalogue_regions: Field<Vec<String>>,
}

/// The data source `joiner_versions`.
pub(super) struct VersionsData;

#[async_trait]
impl DataSource for VersionsData {
    type Data = Joiner;
    type Model = VersionsLookup;

    fn name(&self) -> &'static str {
        "joiner_versions"
    }

    async fn read(&self, _: &Context<Joiner>, _: VersionsLookup) -> Result<VersionsLookup, Diagnostics> {
        Ok(VersionsLookup {
            provider_version: env!("CARGO_PKG_VERSION").into(),
            chart_version: Field::from_option(ChartSource::Embedded.known_version()),
            catalogue_date: builtin::date().into(),
            catalogue_regions: Field::Known(builtin::regions().into_iter().map(str::to_owned).collect()),
        })
    }
}
