output "hash" {
  # What Karpenter writes into the annotation karpenter.sh/nodepool-hash
  value = provider::joiner::node_pool_hash(yamldecode(file("${path.module}/node-pool.yaml")))
}
