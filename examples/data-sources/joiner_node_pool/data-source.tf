data "joiner_node_pool" "general" {
  name    = "general"
  cluster = aws_eks_cluster.this.id
}

check "the_pool_is_ready" {
  assert {
    condition     = data.joiner_node_pool.general.ready
    error_message = "The pool cannot buy nodes."
  }
}
