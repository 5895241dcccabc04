# What a pool with these requirements could buy, and what it costs at most.
data "joiner_instance_types" "general" {
  region = "eu-central-1"
  requirements = [
    { key = "kubernetes.io/arch", operator = "In", values = ["arm64"] },
    { key = "karpenter.k8s.aws/instance-category", operator = "In", values = ["c", "m", "r"] },
    { key = "karpenter.k8s.aws/instance-cpu", operator = "Lte", values = ["16"] },
  ]
}

output "dearest" {
  description = "The highest price of a node, in US dollars an hour."
  value       = max(data.joiner_instance_types.general.instance_types[*].on_demand_price...)
}
