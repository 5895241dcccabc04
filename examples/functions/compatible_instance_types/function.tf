output "types" {
  value = provider::joiner::compatible_instance_types([
    { key = "karpenter.k8s.aws/instance-family", operator = "In", values = ["m7g"] },
  ])
}
