# A discount that the price list does not know, and a device that a plugin adds to each node.
resource "joiner_node_overlay" "discount" {
  name = "discount"

  requirements = [
    { key = "karpenter.k8s.aws/instance-family", operator = "In", values = ["m7i", "m7a"] },
    { key = "karpenter.sh/capacity-type", operator = "In", values = ["on-demand"] },
  ]
  price_adjustment = "-15%"
  capacity = {
    "smarter-devices/fuse" = "1"
  }
  weight = 10
}
