# For a release that brings no definitions of its own, such as upstream Karpenter's without its chart karpenter-crd.
resource "joiner_crds" "this" {
  # With the definitions all pools and nodes would go.
  on_destroy = "retain"
}

resource "joiner_helm_release" "karpenter" {
  name         = "karpenter"
  namespace    = "kube-system"
  chart        = "oci://public.ecr.aws/karpenter/karpenter"
  version      = "1.14.3"
  install_crds = false

  values = {
    settings = {
      clusterName       = aws_eks_cluster.this.id
      interruptionQueue = aws_sqs_queue.interruption.name
    }
  }

  depends_on = [joiner_crds.this]
}
