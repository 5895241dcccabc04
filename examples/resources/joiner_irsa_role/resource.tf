resource "joiner_irsa_role" "controller" {
  name              = "my-cluster-joiner"
  cluster_name      = aws_eks_cluster.this.id
  oidc_provider_arn = aws_iam_openid_connect_provider.this.arn
  namespace         = "kube-system"
  service_account   = "joiner"

  node_role_arns         = [aws_iam_role.node.arn]
  interruption_queue_arn = aws_sqs_queue.interruption.arn
  permissions_boundary   = "arn:aws:iam::123456789012:policy/boundary"

  # What the controller needs beyond its own policy, for example a key for encrypted volumes.
  policies = {
    volumes = jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect   = "Allow"
        Action   = ["kms:CreateGrant", "kms:DescribeKey"]
        Resource = aws_kms_key.volumes.arn
      }]
    })
  }
  tags = {
    team = "platform"
  }
}
