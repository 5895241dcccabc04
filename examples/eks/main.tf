# The same as the quickstart, on a real account: a VPC, an EKS cluster, the nodes' role, the queue of interruption events, the
# controller's role and release, a node class and a node pool, in one apply. One destroy takes all of it away again.

terraform {
  required_version = ">= 1.8"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
    joiner = {
      source = "joiner-dev/joiner"
    }
  }
}

variable "cluster_name" {
  description = "Name of the cluster."
  type        = string
  default     = "joiner"
}

variable "region" {
  description = "Region of the cluster."
  type        = string
  default     = "eu-central-1"
}

provider "aws" {
  region = var.region
}

provider "joiner" {
  # Unknown until the cluster exists, and no reason for a second apply.
  eks = {
    cluster_name = module.eks.cluster_name
  }
  aws = {
    region = var.region
  }
}

# What the pool's nodes are in the account: a role, and the leave to join the cluster.
resource "joiner_node_role" "nodes" {
  name         = "${var.cluster_name}-nodes"
  cluster_name = module.eks.cluster_name
}

# What is about to happen to instances: spot interruptions, maintenance, state changes.
resource "joiner_interruption_queue" "this" {
  name = var.cluster_name
}

# On destroy: after the controller, before the network, when nothing of the nodes is left.
resource "joiner_teardown" "this" {
  cluster_name      = module.eks.cluster_name
  terminate_orphans = true

  depends_on = [module.vpc, module.eks, joiner_node_role.nodes]
}

# The controller's identity, given to its pods by EKS Pod Identity.
resource "joiner_pod_identity_role" "controller" {
  name                   = "${var.cluster_name}-joiner"
  cluster_name           = module.eks.cluster_name
  node_role_arns         = [joiner_node_role.nodes.arn]
  interruption_queue_arn = joiner_interruption_queue.this.arn

  depends_on = [joiner_teardown.this]
}

# The controller and its CRDs, from the chart that the provider carries.
resource "joiner_helm_release" "controller" {
  name      = joiner_pod_identity_role.controller.service_account
  namespace = joiner_pod_identity_role.controller.namespace

  values = {
    settings = {
      clusterName       = module.eks.cluster_name
      clusterEndpoint   = module.eks.cluster_endpoint
      interruptionQueue = joiner_interruption_queue.this.name
    }
  }

  # The managed node group is where the controller itself runs: it must outlive it. And the association of the role comes first, since pods
  # get it when they start.
  depends_on = [module.eks, joiner_pod_identity_role.controller]
}

# How instances are started.
resource "joiner_ec2_node_class" "default" {
  name = "default"
  role = joiner_node_role.nodes.name

  ami_selector_terms = [{ alias = "al2023@latest" }]
  subnet_selector_terms = [
    { tags = { "karpenter.sh/discovery" = var.cluster_name } }
  ]
  security_group_selector_terms = [
    { tags = { "karpenter.sh/discovery" = var.cluster_name } }
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
        { key = "kubernetes.io/arch", operator = "In", values = ["amd64", "arm64"] },
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
