data "joiner_node_claims" "general" {
  node_pool = "general"
  cluster   = aws_eks_cluster.this.id
}

output "nodes" {
  description = "Which node is what."
  value       = { for claim in data.joiner_node_claims.general.node_claims : claim.name => claim.instance_type }
}
