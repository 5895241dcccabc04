# A token for another provider; this one makes its own.
ephemeral "joiner_cluster_auth" "this" {
  cluster_name = "my-cluster"
}

provider "kubernetes" {
  host                   = aws_eks_cluster.this.endpoint
  cluster_ca_certificate = base64decode(aws_eks_cluster.this.certificate_authority[0].data)
  token                  = ephemeral.joiner_cluster_auth.this.token
}
