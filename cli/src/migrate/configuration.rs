//! A configuration from pieces: resources with their names, references between them, import blocks.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::attributes::attributes;
use super::current::{Kind, Settled, settle};
use super::hcl::{Block, Tree, render};
use super::live::Place;
use super::names::Names;
use super::piece::{Harvest, Piece};

/// What stands in the place of the provider block where nothing tells which cluster it is.
const NO_PROVIDER: [&str; 3] = [
    "The files do not tell which cluster they are of, so there is no provider block here. Write one before the first plan:",
    "  provider \"joiner\" { eks = { cluster_name = \"NAME\" } }",
    "or write all of this anew with --cluster-name NAME.",
];

/// How the provider reaches the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// By a kubeconfig.
    Kubeconfig(Place),
    /// By the name of an EKS cluster.
    Eks(String),
}

/// What is written besides resources.
#[derive(Debug, Clone)]
pub(super) struct Options {
    /// Import blocks for what exists.
    pub(super) import: bool,
    /// The terraform and the provider block.
    pub(super) provider: bool,
    /// For the provider block.
    pub(super) reach: Option<Reach>,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Configuration {
    /// Blocks by file, in the order in which one file has them all.
    pub(super) files: Vec<(&'static str, Vec<Block>)>,
    /// What is to be said, with the address of the resource.
    pub(super) remarks: Vec<(String, String)>,
}

impl Configuration {
    /// The configuration of what was found.
    pub(super) fn of(harvest: &Harvest, options: &Options) -> Result<Self> {
        let mut resources = Vec::new();
        for piece in &harvest.pieces {
            let importable = options.import && piece.exists;
            let piece = Piece {
                exists: importable,
                ..piece.clone()
            };
            resources.push((settle(&piece)?, piece));
        }
        resources.sort_by(|(left, _), (right, _)| (left.kind, &left.name).cmp(&(right.kind, &right.name)));
        for pair in resources.windows(2) {
            let ((left, first), (right, second)) = (&pair[0], &pair[1]);
            if (left.kind, &left.name) == (right.kind, &right.name) {
                bail!(
                    "{} and {} have one name: two objects of a kind cannot. Leave one of them out",
                    first.source,
                    second.source
                );
            }
        }
        let names = name(&resources);
        let mut files: BTreeMap<Kind, Vec<Block>> = BTreeMap::new();
        let (mut imports, mut remarks) = (Vec::new(), Vec::new());
        for ((settled, piece), name) in resources.iter().zip(&names) {
            let address = format!("{}.{name}", settled.kind.resource());
            remarks.extend(
                settled
                    .remarks
                    .iter()
                    .map(|remark| (address.clone(), remark.clone())),
            );
            if piece.exists {
                imports.push(import(&address, &settled.name));
            }
            let block = resource(settled, piece, name, &resources, &names);
            files.entry(settled.kind).or_default().push(block);
        }
        let mut all = vec![
            ("versions.tf", head(options)),
            ("variables.tf", variables(harvest)),
        ];
        all.extend(Kind::ALL.map(|kind| (kind.file(), files.remove(&kind).unwrap_or_default())));
        all.push(("imports.tf", imports));
        all.retain(|(_, blocks)| !blocks.is_empty());
        Ok(Self { files: all, remarks })
    }

    /// Everything as one text.
    pub(super) fn text(&self) -> String {
        let blocks: Vec<Block> = self.files.iter().flat_map(|(_, blocks)| blocks.clone()).collect();
        render(&blocks)
    }
}

/// An identifier for each resource, distinct within its kind.
fn name(resources: &[(Settled, Piece)]) -> Vec<String> {
    let mut names: BTreeMap<Kind, Names> = BTreeMap::new();
    resources
        .iter()
        .map(|(settled, _)| names.entry(settled.kind).or_default().give(&settled.name))
        .collect()
}

fn resource(
    settled: &Settled,
    piece: &Piece,
    name: &str,
    resources: &[(Settled, Piece)],
    names: &[String],
) -> Block {
    let mut tree = Tree::Object(attributes(&settled.members));
    if let Some(class) = class_of(settled, resources, names) {
        let path = ["template", "spec", "node_class_ref", "name"].map(str::to_owned);
        tree.set(&path, Tree::Expression(class));
    }
    for (path, expression) in &piece.references {
        tree.set(path, Tree::Expression(expression.clone()));
    }
    let attributes = match tree {
        Tree::Object(attributes) => attributes,
        _ => Vec::new(),
    };
    let mut block = Block::new("resource", &[settled.kind.resource(), name], attributes);
    if !settled.remarks.is_empty() {
        block.comments.push(format!("{}:", piece.source));
        block
            .comments
            .extend(settled.remarks.iter().map(|remark| format!("- {remark}")));
    }
    block
}

/// The name of a pool's class as a reference, so that the class outlives the pool; none where it is not written here.
fn class_of(settled: &Settled, resources: &[(Settled, Piece)], names: &[String]) -> Option<String> {
    let reference = settled.members.get("template")?.pointer("/spec/nodeClassRef")?;
    // Another kind of class is none of ours.
    if settled.kind != Kind::NodePool || !reference["kind"].is_null() || !reference["group"].is_null() {
        return None;
    }
    let wanted = reference["name"].as_str()?;
    let is_it = |(settled, _): &(Settled, Piece)| settled.kind == Kind::NodeClass && settled.name == wanted;
    let index = resources.iter().position(is_it)?;
    Some(format!("{}.{}.name", Kind::NodeClass.resource(), names[index]))
}

fn import(address: &str, id: &str) -> Block {
    let attributes = vec![
        ("to".to_owned(), Tree::Expression(address.to_owned())),
        ("id".to_owned(), Tree::Text(id.to_owned())),
    ];
    Block::new("import", &[], attributes)
}

fn object(members: &[(&str, &str)]) -> Tree {
    let members = members
        .iter()
        .map(|(name, text)| ((*name).to_owned(), Tree::Text((*text).to_owned())));
    Tree::Object(members.collect())
}

fn head(options: &Options) -> Vec<Block> {
    if !options.provider {
        return Vec::new();
    }
    let mut terraform = Block::new("terraform", &[], Vec::new());
    let version = concat!(">= ", env!("CARGO_PKG_VERSION"));
    let source = object(&[("source", "joiner-dev/joiner"), ("version", version)]);
    terraform.blocks.push(Block::new(
        "required_providers",
        &[],
        vec![("joiner".to_owned(), source)],
    ));
    let reach = match &options.reach {
        None => {
            terraform.comments.extend(NO_PROVIDER.map(str::to_owned));
            return vec![terraform];
        }
        Some(Reach::Eks(name)) => ("eks".to_owned(), object(&[("cluster_name", name.as_str())])),
        Some(Reach::Kubeconfig(Place { file, context })) => {
            let mut members = vec![("config_path", file.as_str())];
            members.extend(context.as_deref().map(|context| ("config_context", context)));
            ("kubernetes".to_owned(), object(&members))
        }
    };
    vec![terraform, Block::new("provider", &["joiner"], vec![reach])]
}

fn variables(harvest: &Harvest) -> Vec<Block> {
    let variable = |(name, description): (&String, &String)| {
        let attributes = vec![
            ("description".to_owned(), Tree::Text(description.clone())),
            ("type".to_owned(), Tree::Expression("string".to_owned())),
        ];
        Block::new("variable", &[name.as_str()], attributes)
    };
    harvest.variables.iter().map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn pool(name: &str, class: &str) -> Piece {
        let manifest = json!({ "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": name }, "spec": {
            "template": { "spec": {
                "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": class },
                "requirements": [{ "key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"] }], "expireAfter": "Never",
            } },
        } });
        piece(name, manifest)
    }

    fn class(name: &str) -> Piece {
        let manifest = json!({ "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": { "name": name }, "spec": {
            "amiSelectorTerms": [{ "alias": "al2023@latest" }], "subnetSelectorTerms": [{ "id": "subnet-1" }],
            "securityGroupSelectorTerms": [{ "id": "sg-1" }], "userData": "[settings]\nx = 1\n",
        } });
        piece(name, manifest)
    }

    fn piece(name: &str, manifest: Json) -> Piece {
        Piece {
            exists: true,
            ..Piece::new(name, manifest)
        }
    }

    fn options() -> Options {
        Options {
            import: true,
            provider: true,
            reach: Some(Reach::Eks("prod".to_owned())),
        }
    }

    #[test]
    fn without_a_cluster_the_head_says_that_a_provider_block_is_missing() {
        let text = |reach: Option<Reach>, provider: bool| {
            let harvest = Harvest {
                pieces: vec![pool("p", "c")],
                ..Harvest::default()
            };
            let options = Options {
                import: true,
                provider,
                reach,
            };
            Configuration::of(&harvest, &options)
                .expect("a configuration")
                .text()
        };
        let says = |text: &str| {
            text.starts_with("# The files do not tell") && text.contains("provider \"joiner\" { eks")
        };
        assert!(says(&text(None, true)), "{}", text(None, true));
        assert!(!says(&text(None, false)) && !says(&text(Some(Reach::Eks("c".to_owned())), true)));
    }

    #[test]
    fn a_configuration_is_whole() {
        let mut gpu = class("gpu.a");
        gpu.references
            .push((vec!["role".to_owned()], "var.node_role".to_owned()));
        gpu.remarks.push("spec.x has no counterpart".to_owned());
        let harvest = Harvest {
            pieces: vec![pool("general", "gpu.a"), gpu, pool("other", "elsewhere")],
            variables: [("node_role".to_owned(), "Name of the role".to_owned())].into(),
            ..Harvest::default()
        };
        let configuration = Configuration::of(&harvest, &options()).expect("a configuration");
        let want = r#"terraform {
  required_providers {
    joiner = { source = "joiner-dev/joiner", version = ">= VERSION" }
  }
}

provider "joiner" {
  eks = { cluster_name = "prod" }
}

variable "node_role" {
  description = "Name of the role"
  type        = string
}

# gpu.a:
# - spec.x has no counterpart
resource "joiner_ec2_node_class" "gpu_a" {
  name                          = "gpu.a"
  ami_selector_terms            = [{ alias = "al2023@latest" }]
  subnet_selector_terms         = [{ id = "subnet-1" }]
  security_group_selector_terms = [{ id = "sg-1" }]
  user_data                     = <<EOT
[settings]
x = 1
EOT
  role                          = var.node_role
}

resource "joiner_node_pool" "general" {
  name = "general"
  template = {
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.gpu_a.name }
      requirements   = [{ key = "kubernetes.io/arch", operator = "In", values = ["arm64"] }]
      expire_after   = "Never"
    }
  }
}

resource "joiner_node_pool" "other" {
  name = "other"
  template = {
    spec = {
      node_class_ref = { name = "elsewhere" }
      requirements   = [{ key = "kubernetes.io/arch", operator = "In", values = ["arm64"] }]
      expire_after   = "Never"
    }
  }
}

import {
  to = joiner_ec2_node_class.gpu_a
  id = "gpu.a"
}

import {
  to = joiner_node_pool.general
  id = "general"
}

import {
  to = joiner_node_pool.other
  id = "other"
}
"#;
        assert_eq!(
            configuration.text(),
            want.replace("VERSION", env!("CARGO_PKG_VERSION"))
        );
        let files: Vec<&str> = configuration.files.iter().map(|(file, _)| *file).collect();
        assert_eq!(
            files,
            [
                "versions.tf",
                "variables.tf",
                "node_classes.tf",
                "node_pools.tf",
                "imports.tf"
            ]
        );
        assert_eq!(configuration.remarks[0].0, "joiner_ec2_node_class.gpu_a");
    }

    #[test]
    fn what_is_not_wanted_is_left_out() {
        let harvest = Harvest {
            pieces: vec![pool("p", "c")],
            ..Harvest::default()
        };
        let options = Options {
            import: false,
            provider: false,
            reach: None,
        };
        let text = Configuration::of(&harvest, &options)
            .expect("a configuration")
            .text();
        assert!(
            text.starts_with("resource \"joiner_node_pool\" \"p\" {") && !text.contains("import"),
            "{text}"
        );
        let twice = Harvest {
            pieces: vec![pool("p", "c"), pool("p", "d")],
            ..Harvest::default()
        };
        assert!(Configuration::of(&twice, &options).is_err());
    }
}
