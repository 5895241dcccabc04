//! A data source, an ephemeral resource and a function.

use tfplugin::{
    Arguments, Context, DataSource, Diagnostics, EphemeralResource, Field, Function, FunctionError, Model,
    Opened, Parameter, Private, Signature, Type, Value, async_trait,
};

use crate::store::Store;

/// A thing that is there.
#[derive(Clone, Debug, Model)]
pub(crate) struct ThingLookup {
    /// Its name.
    #[tf(required)]
    name: Field<String>,
    /// How often it was written.
    #[tf(computed)]
    revision: Field<i64>,
}

pub(crate) struct ThingData;

#[async_trait]
impl DataSource for ThingData {
    type Data = Store;
    type Model = ThingLookup;

    fn name(&self) -> &'static str {
        "folder_thing"
    }

    async fn read(&self, ctx: &Context<Store>, mut config: ThingLookup) -> Result<ThingLookup, Diagnostics> {
        let name = config.name.as_str().unwrap_or_default();
        let thing = ctx.ready()?.get(name)?.ok_or_else(|| {
            let mut missing = Diagnostics::new();
            missing.error_at(
                "name",
                "No such thing",
                format!("There is no thing {name:?} in the provider's folder."),
            );
            missing
        })?;
        config.revision = Field::from_option(thing["revision"].as_i64());
        Ok(config)
    }
}

/// A token for the time of a run.
#[derive(Clone, Debug, Model)]
pub(crate) struct Token {
    /// For whom.
    #[tf(required)]
    audience: Field<String>,
    /// The token.
    #[tf(computed, sensitive)]
    token: Field<String>,
}

pub(crate) struct TokenResource;

#[async_trait]
impl EphemeralResource for TokenResource {
    type Data = Store;
    type Model = Token;

    fn name(&self) -> &'static str {
        "folder_token"
    }

    async fn open(&self, _: &Context<Store>, mut config: Token) -> Result<Opened<Token>, Diagnostics> {
        config.token = config
            .audience
            .clone()
            .map(|audience| format!("token-for-{audience}"));
        Ok(Opened {
            result: config,
            renew_at: None,
            private: Private::default(),
        })
    }
}

pub(crate) struct Shout;

impl Function for Shout {
    fn name(&self) -> &'static str {
        "shout"
    }

    fn signature(&self) -> Signature {
        Signature {
            parameters: vec![Parameter::new("text", Type::String, "What to shout.")],
            variadic: Some(Parameter::new("more", Type::String, "What to shout after it.")),
            returns: Type::String,
            summary: "Shouts".to_owned(),
            description: "The texts in capitals, with spaces between.".to_owned(),
            deprecated: None,
        }
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let texts = (0..arguments.values().len()).map(|position| arguments.get::<String>(position));
        let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
        if let Some(position) = texts.iter().position(String::is_empty) {
            return Err(FunctionError::argument(position, "nothing to shout"));
        }
        Ok(Value::string(texts.join(" ").to_uppercase()))
    }
}
