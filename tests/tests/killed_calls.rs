//! `kill -9` of the provider at each call of an object's life: while it is planned, before and after it is made, changed and deleted,
//! while it is read and imported. Each time the next run finishes what was begun, with the same object, and nothing is left over.

use std::time::Duration;

use anyhow::{Context, Error, Result, ensure};
use joiner_sandbox::Cluster;
use joiner_tests::chart::SmallChart;
use joiner_tests::cluster::revisions;
use joiner_tests::configuration::{SOURCES, by_kubeconfig, node_class, node_pool};
use joiner_tests::tap::{Point, Side, Tap};
use joiner_tests::{Cloud, CoreKind, Workspace, cores, eventually};
use serde_json::{Value, json};
use tokio::runtime::Handle;

const PATIENCE: Duration = Duration::from_secs(120);
const APPLY: &[&str] = &["apply", "-auto-approve", "-input=false", "-no-color"];
const DESTROY: &[&str] = &["destroy", "-auto-approve", "-input=false", "-no-color"];
const PLAN: &[&str] = &["plan", "-input=false", "-no-color"];

/// What all lives share.
struct Stage {
    cloud: Cloud,
    cluster: Cluster,
    chart: SmallChart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    NodePool,
    NodeClass,
    IrsaRole,
    Queue,
    Release,
}

/// The two configurations of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    First,
    Second,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::NodePool,
        Self::NodeClass,
        Self::IrsaRole,
        Self::Queue,
        Self::Release,
    ];

    fn resource(self) -> &'static str {
        match self {
            Self::NodePool => "joiner_node_pool",
            Self::NodeClass => "joiner_ec2_node_class",
            Self::IrsaRole => "joiner_irsa_role",
            Self::Queue => "joiner_interruption_queue",
            Self::Release => "joiner_helm_release",
        }
    }

    /// The call to AWS in the middle of a create at which a test can stand still.
    fn middle(self) -> Option<&'static str> {
        (self == Self::Queue).then_some("events:PutTargets")
    }
}

/// One object, and the core that manages it.
struct Life<'a> {
    stage: &'a Stage,
    kind: Kind,
    name: String,
    workspace: Workspace,
}

impl<'a> Life<'a> {
    fn begin(stage: &'a Stage, core: CoreKind, kind: Kind) -> Result<Self> {
        let name = format!("{kind:?}-{core:?}").to_lowercase();
        let main = main(stage, kind, &name, Wish::First);
        let workspace = Workspace::with(&stage.cloud, core, &name, &main)?;
        Ok(Self {
            stage,
            kind,
            name,
            workspace,
        })
    }

    fn wish(&self, wish: Wish) -> Result<()> {
        self.workspace
            .rewrite(&main(self.stage, self.kind, &self.name, wish))
    }

    fn address(&self) -> String {
        format!("{}.{}", self.kind.resource(), self.name)
    }

    fn import(&self) -> Vec<String> {
        let id = match self.kind {
            Kind::Release => format!("default/{}", self.name),
            _ => self.name.clone(),
        };
        let words = ["import", "-input=false", "-no-color"].map(str::to_owned);
        words.into_iter().chain([self.address(), id]).collect()
    }

    fn tap(&mut self, point: Option<Point>) -> Result<Tap> {
        let tap = Tap::start(
            &self.stage.cloud,
            self.workspace.dir(),
            self.kind.resource(),
            point,
        )?;
        self.workspace
            .set_environment(&[("TF_REATTACH_PROVIDERS", Some(tap.variable()))]);
        Ok(tap)
    }

    /// Runs a command of the core during which the provider dies at `side` of the `nth` call.
    fn dies(&mut self, arguments: &[&str], call: &'static str, nth: usize, side: Side) -> Result<()> {
        let point = Point { call, nth, side };
        let tap = self.tap(Some(point))?;
        let failed = self.workspace.fails(arguments);
        self.workspace.set_environment(&[]);
        let said = failed.with_context(|| format!("{point:?}"))?;
        tap.has_killed().context(said)
    }

    /// What tells the live object from another one of its name; `None` when there is none.
    fn own_id(&self) -> Result<Option<String>> {
        let cloud = &self.stage.cloud;
        let uid = |kind: &str| {
            let name = &self.name;
            let uid = "jsonpath={.metadata.uid}";
            cloud.kubectl(&["get", kind, name, "--ignore-not-found", "-o", uid])
        };
        let found = match self.kind {
            Kind::NodePool => uid("nodepool")?,
            Kind::NodeClass => uid("ec2nodeclass")?,
            Kind::Release => uid("deployment")?,
            Kind::IrsaRole => {
                let roles = cloud.aws("iam", "list_roles", &json!({}))?;
                let roles = roles["Roles"].as_array().into_iter().flatten();
                let mut ours = roles.filter(|role| role["RoleName"] == self.name.as_str());
                ours.next()
                    .map_or(String::new(), |role| role["RoleId"].to_string())
            }
            Kind::Queue => {
                let queues = cloud.aws("sqs", "list_queues", &json!({ "QueueNamePrefix": self.name }))?;
                queues["QueueUrls"][0].as_str().unwrap_or_default().to_owned()
            }
        };
        Ok(Some(found).filter(|found| !found.is_empty()))
    }

    fn has_state(&self) -> Result<bool> {
        Ok(!self.workspace.state()?.is_empty())
    }

    /// The create is killed while calls to AWS are under way.
    async fn dies_in_the_middle(&mut self, action: &str) -> Result<()> {
        let cloud = &self.stage.cloud;
        let slow =
            json!({ "kind": "latency", "milliseconds": 4000, "times": 3, "match": { "action": action } });
        cloud.fault(&slow).await?;
        let tap = self.tap(None)?;
        let mut apply = self.workspace.start_apply()?;
        eventually(&format!("{action} is under way"), PATIENCE, || async {
            let met = cloud.faults().await?;
            ensure!(met.get("latency").is_some_and(|used| *used > 0), "{met:?}");
            Ok(())
        })
        .await?;
        tap.kill();
        apply.fails(PATIENCE).await?;
        self.workspace.set_environment(&[]);
        cloud.mend().await
    }

    async fn live(&mut self) -> Result<()> {
        const MADE: &str = "ApplyResourceChange";
        // Planned twice, in the plan and in the apply.
        self.dies(APPLY, "PlanResourceChange", 1, Side::Before)?;
        self.dies(APPLY, "PlanResourceChange", 2, Side::After)?;
        self.dies(APPLY, MADE, 1, Side::Before)?;
        ensure!(
            self.own_id()?.is_none(),
            "it was made before anybody asked for it"
        );
        if let Some(action) = self.kind.middle() {
            self.dies_in_the_middle(action).await?;
        }
        // Made, and nobody heard of it.
        self.dies(APPLY, MADE, 1, Side::After)?;
        let id = self.own_id()?;
        ensure!(id.is_some(), "it was not made");
        ensure!(!self.has_state()?, "who told the core?");
        self.workspace.apply(&[])?;
        self.is_still(&id)?;

        // Looked at and imported.
        self.dies(PLAN, "ReadResource", 1, Side::After)?;
        self.workspace.run(&["state", "rm", &self.address()])?;
        let import = self.import();
        let import: Vec<&str> = import.iter().map(String::as_str).collect();
        self.dies(&import, "ImportResourceState", 1, Side::Before)?;
        self.dies(&import, "ImportResourceState", 1, Side::After)?;
        ensure!(!self.has_state()?, "nothing was imported");
        self.workspace.run(&import)?;

        // Changed, and nobody heard of it.
        self.wish(Wish::Second)?;
        self.dies(APPLY, MADE, 1, Side::Before)?;
        self.dies(APPLY, MADE, 1, Side::After)?;
        self.workspace.apply(&[])?;
        self.workspace.plan_is_empty()?;
        self.is_still(&id)?;

        // Deleted, and nobody heard of it.
        self.dies(DESTROY, MADE, 1, Side::Before)?;
        self.is_still(&id)?;
        self.dies(DESTROY, MADE, 1, Side::After)?;
        ensure!(self.own_id()?.is_none(), "it was not deleted");
        self.workspace.destroy()?;
        ensure!(!self.has_state()?, "{:?}", self.workspace.state()?);
        Ok(())
    }

    fn is_still(&self, id: &Option<String>) -> Result<()> {
        let now = self.own_id()?;
        ensure!(now == *id, "it is another one: {now:?}, not {id:?}");
        Ok(())
    }
}

fn main(stage: &Stage, kind: Kind, name: &str, wish: Wish) -> String {
    let head = by_kubeconfig(&stage.cluster);
    let second = |text: &'static str| match wish {
        Wish::First => "",
        Wish::Second => text,
    };
    match kind {
        Kind::NodePool => head + &node_pool(name, "some", second("weight = 7")),
        Kind::NodeClass => head + &node_class(name, second("tags = { second = \"yes\" }")),
        Kind::IrsaRole => format!(
            r#"{SOURCES}
resource "joiner_irsa_role" "{name}" {{
  name              = "{name}"
  cluster_name      = "{cluster}"
  oidc_provider_arn = "{provider}"
  {more}
}}
"#,
            cluster = stage.cluster.name,
            provider = stage.cluster.aws.oidc_provider_arn,
            more = second("tags = { second = \"yes\" }"),
        ),
        Kind::Queue => format!(
            r#"{SOURCES}
resource "joiner_interruption_queue" "{name}" {{
  name = "{name}"
  {more}
}}
"#,
            more = second("message_retention_seconds = 600"),
        ),
        Kind::Release => {
            head + &stage
                .chart
                .release(name, second("note = \"second\""), "wait = false")
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_dies_at_any_call_loses_and_doubles_nothing() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("calls").await?;
    cloud.crds(&cluster)?;
    cloud.ground().mirror()?;
    let chart = SmallChart::write(cloud.folder())?;
    let stage = Stage {
        cloud,
        cluster,
        chart,
    };
    let runtime = Handle::current();
    // Every kind with the first core; with the others, one kind: what differs is what a core does about a provider that is gone.
    let lives: Vec<(CoreKind, Kind)> = cores()
        .into_iter()
        .flat_map(|core| Kind::ALL.map(|kind| (core, kind)))
        .filter(|(core, kind)| *core == CoreKind::OpenTofu || *kind == Kind::NodePool)
        .collect();
    let failures: Vec<Error> = std::thread::scope(|scope| {
        let threads: Vec<_> = lives
            .into_iter()
            .map(|(core, kind)| {
                let (runtime, stage) = (&runtime, &stage);
                scope.spawn(move || {
                    let live = async { Life::begin(stage, core, kind)?.live().await };
                    runtime
                        .block_on(live)
                        .with_context(|| format!("{kind:?} with {core:?}"))
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .filter_map(|ended| ended.unwrap_or_else(|_| Err(Error::msg("a life panicked"))).err())
            .collect()
    });
    ensure!(failures.is_empty(), "{failures:#?}");
    is_clean(&stage).await
}

/// Nothing is left of any of them.
async fn is_clean(stage: &Stage) -> Result<()> {
    let left = stage.cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    let rules: Value = stage.cloud.aws("events", "list_rules", &json!({}))?;
    ensure!(
        rules["Rules"].as_array().is_none_or(Vec::is_empty),
        "rules are left: {rules}"
    );
    let client = stage.cloud.client_of(&stage.cluster).await?;
    let left = revisions(&client, "release-opentofu").await?;
    ensure!(left.is_empty(), "records of the release are left: {left:?}");
    Ok(())
}
