# One apply: a cluster, the controller's role, its Helm release, a node class and a node pool.
#
# The cluster is the sandbox's: real etcd, API server and scheduler on this machine, with an emulated AWS account. For a real account
# see ../eks: what follows the cluster is the same.

terraform {
  required_providers {
    joiner = {
      source = "joiner-dev/joiner"
    }
    sandbox = {
      source = "joiner-dev/sandbox"
    }
  }
}

variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  default     = "quickstart"
}

resource "sandbox_cluster" "this" {
  name = var.cluster_name
}

provider "joiner" {
  # Unknown until the cluster exists, and no reason for a second apply.
  eks = {
    cluster_name = sandbox_cluster.this.id
  }
}

# The controller's identity: only its service account may take it on, and it may touch only what carries the cluster's tags.
resource "joiner_irsa_role" "controller" {
  name              = "${var.cluster_name}-joiner"
  cluster_name      = sandbox_cluster.this.id
  oidc_provider_arn = sandbox_cluster.this.oidc_provider_arn
  node_role_arns    = [sandbox_cluster.this.node_role_arn]
}

# The controller and its CRDs, from the chart that the provider carries.
resource "joiner_helm_release" "controller" {
  name      = joiner_irsa_role.controller.service_account
  namespace = joiner_irsa_role.controller.namespace

  values = {
    settings = {
      clusterName     = sandbox_cluster.this.id
      clusterEndpoint = sandbox_cluster.this.endpoint
    }
    serviceAccount = {
      annotations = {
        "eks.amazonaws.com/role-arn" = joiner_irsa_role.controller.arn
      }
    }
  }
}

# How instances are started.
resource "joiner_ec2_node_class" "default" {
  name = "default"
  role = sandbox_cluster.this.node_role_name

  ami_selector_terms = [{ alias = "al2023@latest" }]
  subnet_selector_terms = [
    { tags = { "karpenter.sh/discovery" = sandbox_cluster.this.id } }
  ]
  security_group_selector_terms = [
    { tags = { "karpenter.sh/discovery" = sandbox_cluster.this.id } }
  ]

  # On destroy the controller cleans up after the class, so it must still run then.
  depends_on = [joiner_helm_release.controller]
}

# What kind of nodes may be bought.
resource "joiner_node_pool" "default" {
  name = "default"

  template = {
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.default.name }
      requirements = [
        { key = "kubernetes.io/arch", operator = "In", values = ["amd64"] },
        { key = "karpenter.sh/capacity-type", operator = "In", values = ["spot", "on-demand"] },
        { key = "karpenter.k8s.aws/instance-category", operator = "In", values = ["c", "m", "r"] },
        { key = "karpenter.k8s.aws/instance-generation", operator = "Gt", values = ["4"] },
      ]
      expire_after = "720h"
    }
  }

  disruption = {
    consolidation_policy = "WhenEmptyOrUnderutilized"
    consolidate_after    = "30s"
  }

  limits = {
    cpu = "1000"
  }
}

output "cluster" {
  description = "The cluster that gives its own pods nodes."
  value       = sandbox_cluster.this.endpoint
}
