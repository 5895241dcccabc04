terraform {
  required_providers {
    joiner = {
      source = "joiner-dev/joiner"
    }
  }
}

# By the name of an EKS cluster: endpoint and certificate authority are looked up, and a token is made for each request.
provider "joiner" {
  eks = {
    cluster_name = aws_eks_cluster.this.id
  }
  aws = {
    region = "eu-central-1"
    default_tags = {
      team = "platform"
    }
  }

  # For charts in a registry that asks for a login.
  registries = [
    { url = "oci://ghcr.io", username = "robot", password = var.registry_token }
  ]
}

# By host and credentials.
provider "joiner" {
  alias = "direct"

  kubernetes = {
    host                   = aws_eks_cluster.this.endpoint
    cluster_ca_certificate = aws_eks_cluster.this.certificate_authority[0].data
    exec = {
      api_version = "client.authentication.k8s.io/v1"
      command     = "aws"
      args        = ["eks", "get-token", "--cluster-name", aws_eks_cluster.this.name]
    }
  }
}

# By a kubeconfig file.
provider "joiner" {
  alias = "file"

  kubernetes = {
    config_path    = "~/.kube/config"
    config_context = "my-cluster"
  }
}
