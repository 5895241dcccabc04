# Destroyed after the controller and before the network: what is left of the cluster's nodes is named, and ended.
resource "joiner_teardown" "this" {
  cluster_name      = aws_eks_cluster.this.id
  terminate_orphans = true

  timeouts = {
    delete = "20m"
  }

  # All that must outlive the last node. In turn the release, the roles of the controller and the node classes have
  # depends_on = [joiner_teardown.this].
  depends_on = [module.vpc, aws_eks_cluster.this]
}
