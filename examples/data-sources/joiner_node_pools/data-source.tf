data "joiner_node_pools" "platform" {
  labels  = { team = "platform" }
  cluster = aws_eks_cluster.this.id
}
