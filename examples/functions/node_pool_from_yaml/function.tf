locals {
  # A pool as it was written for kubectl, now as attributes.
  pool = provider::joiner::node_pool_from_yaml(file("${path.module}/pool.yaml"))
}

resource "joiner_node_pool" "from_yaml" {
  name     = local.pool.name
  template = local.pool.template
}
