data "joiner_ec2_node_class" "default" {
  name    = "default"
  cluster = aws_eks_cluster.this.id
}

output "images" {
  description = "The images that nodes start from now."
  value       = data.joiner_ec2_node_class.default.amis[*].id
}
