# The same as the quickstart, on a real account: a VPC, an EKS cluster, the controller's role and release, a node class and a node
# pool, in one apply.

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

# The controller's identity.
resource "joiner_irsa_role" "controller" {
  name              = "${var.cluster_name}-joiner"
  cluster_name      = module.eks.cluster_name
  oidc_provider_arn = module.eks.oidc_provider_arn
  region            = var.region
  node_role_arns    = [aws_iam_role.node.arn]
}

# The controller and its CRDs, from the chart that the provider carries.
resource "joiner_helm_release" "controller" {
  name      = joiner_irsa_role.controller.service_account
  namespace = joiner_irsa_role.controller.namespace

  values = {
    settings = {
      clusterName     = module.eks.cluster_name
      clusterEndpoint = module.eks.cluster_endpoint
    }
    serviceAccount = {
      annotations = {
        "eks.amazonaws.com/role-arn" = joiner_irsa_role.controller.arn
      }
    }
  }

  # The managed node group is where the controller itself runs, and the access entry lets its nodes join: both must outlive it.
  depends_on = [module.eks, aws_eks_access_entry.node]
}

# How instances are started.
resource "joiner_ec2_node_class" "default" {
  name = "default"
  role = aws_iam_role.node.name

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
