resource "joiner_node_role" "nodes" {
  name         = "my-cluster-nodes"
  cluster_name = aws_eks_cluster.this.id

  # Beyond what every node needs.
  policy_arns = ["arn:aws:iam::123456789012:policy/pull-from-mirror"]

  tags = {
    team = "platform"
  }
}

output "node_role" {
  description = "What an EC2NodeClass names as its role."
  value       = joiner_node_role.nodes.name
}
