//! A whole provider that keeps things as JSON files in a folder. The tests drive it with real cores.

mod offers;
mod store;
mod thing;

use std::path::PathBuf;
use std::process::ExitCode;

use tfplugin::{
    Configured, Context, Diagnostics, Field, Model, Offers, Provider, ServeOptions, async_trait, serve,
};

/// Keeps things as JSON files in a folder.
#[derive(Clone, Debug, Model)]
struct Settings {
    /// The folder; it is made when it is first needed.
    #[tf(required)]
    folder: Field<String>,
}

struct FolderProvider;

#[async_trait]
impl Provider for FolderProvider {
    type Model = Settings;
    type Data = store::Store;

    async fn configure(
        &self,
        _: &Context<store::Store>,
        config: Settings,
    ) -> Result<Configured<store::Store>, Diagnostics> {
        Ok(match config.folder {
            Field::Known(folder) => Configured::ready(store::Store::new(PathBuf::from(folder))),
            Field::Unknown => Configured::UnknownUntilApply,
            Field::Null => Configured::Unconfigured,
        })
    }

    fn offers(&self) -> Offers<store::Store> {
        Offers::new()
            .resource(thing::ThingResource)
            .data_source(offers::ThingData)
            .ephemeral(offers::TokenResource)
            .function(offers::Shout)
    }
}

fn main() -> ExitCode {
    serve(
        ServeOptions {
            address: "example.com/test/folder",
            version: "0.1.0",
        },
        FolderProvider,
    )
}
