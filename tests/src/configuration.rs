//! Pieces of configurations, for tests that need less than an example.

use joiner_sandbox::Cluster;

/// Where our providers come from.
pub const SOURCES: &str = r#"
terraform {
  required_providers {
    joiner = {
      source = "joiner-dev/joiner"
    }
  }
}
"#;

/// The head of a configuration for a cluster that is there, reached by its kubeconfig.
pub fn by_kubeconfig(cluster: &Cluster) -> String {
    format!(
        r#"{SOURCES}
provider "joiner" {{
  kubernetes = {{
    config_path = "{}"
  }}
}}
"#,
        cluster.kubeconfig.display()
    )
}

/// The head of a configuration for a cluster that is there, reached by its name through EKS.
pub fn by_eks(cluster: &Cluster) -> String {
    format!(
        r#"{SOURCES}
provider "joiner" {{
  eks = {{
    cluster_name = "{}"
  }}
}}
"#,
        cluster.name
    )
}

/// A node class `joiner_ec2_node_class.NAME`, which nobody waits for; `more` is HCL within it.
pub fn node_class(name: &str, more: &str) -> String {
    format!(
        r#"
resource "joiner_ec2_node_class" "{name}" {{
  name                          = "{name}"
  role                          = "nodes"
  ami_selector_terms            = [{{ alias = "al2023@latest" }}]
  subnet_selector_terms         = [{{ tags = {{ team = "a" }} }}]
  security_group_selector_terms = [{{ tags = {{ team = "a" }} }}]
  wait                          = {{ ready = false }}
  {more}
}}
"#
    )
}

/// A pool `joiner_node_pool.NAME` on the class `class`, which nobody waits for; `more` is HCL within it.
pub fn node_pool(name: &str, class: &str, more: &str) -> String {
    format!(
        r#"
resource "joiner_node_pool" "{name}" {{
  name = "{name}"
  wait = {{ ready = false }}
  template = {{
    spec = {{
      node_class_ref = {{ name = "{class}" }}
      requirements   = [{{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }}]
    }}
  }}
  {more}
}}
"#
    )
}
