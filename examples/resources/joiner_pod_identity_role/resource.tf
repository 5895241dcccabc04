# No OIDC provider and no annotation: the association gives the role to the pods of the service account.
resource "joiner_pod_identity_role" "controller" {
  name            = "my-cluster-joiner"
  cluster_name    = aws_eks_cluster.this.id
  namespace       = "kube-system"
  service_account = "joiner"

  node_role_arns         = [aws_iam_role.node.arn]
  interruption_queue_arn = aws_sqs_queue.interruption.arn

  tags = {
    team = "platform"
  }
}
