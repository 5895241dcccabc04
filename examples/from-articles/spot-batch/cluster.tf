# The cluster and its controller. On a real account this part is the EKS module's; see ../../eks.

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
  default     = "spot-batch"
}

resource "sandbox_cluster" "this" {
  name = var.cluster_name
}

provider "joiner" {
  eks = {
    cluster_name = sandbox_cluster.this.id
  }
}

resource "joiner_irsa_role" "controller" {
  name              = "${var.cluster_name}-joiner"
  cluster_name      = sandbox_cluster.this.id
  oidc_provider_arn = sandbox_cluster.this.oidc_provider_arn
  node_role_arns    = [sandbox_cluster.this.node_role_arn]
}

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
