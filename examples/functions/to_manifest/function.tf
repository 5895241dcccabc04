resource "joiner_node_pool" "default" {
  name = "default"
  template = {
    spec = {
      node_class_ref = { name = "default" }
      requirements   = [{ key = "kubernetes.io/arch", operator = "In", values = ["arm64"] }]
    }
  }
}

output "manifest" {
  # What kubectl would apply.
  value = yamlencode(provider::joiner::to_manifest(joiner_node_pool.default))
}
