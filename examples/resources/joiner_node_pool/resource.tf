resource "joiner_node_pool" "general" {
  name = "general"

  template = {
    metadata = {
      labels = { team = "platform" }
    }
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.default.name }
      requirements = [
        { key = "kubernetes.io/arch", operator = "In", values = ["amd64", "arm64"] },
        { key = "karpenter.sh/capacity-type", operator = "In", values = ["spot", "on-demand"] },
        { key = "karpenter.k8s.aws/instance-category", operator = "In", values = ["c", "m", "r"], min_values = 2 },
        { key = "karpenter.k8s.aws/instance-cpu", operator = "Lt", values = ["33"] },
      ]
      taints = [
        { key = "example.com/special", value = "true", effect = "NoSchedule" }
      ]
      expire_after             = "720h"
      termination_grace_period = "24h"
    }
  }

  disruption = {
    consolidation_policy = "WhenEmptyOrUnderutilized"
    consolidate_after    = "1m"
    budgets = [
      { nodes = "10%" },
      # Nothing is disrupted in working hours.
      { nodes = "0", schedule = "0 9 * * mon-fri", duration = "8h", reasons = ["Drifted", "Underutilized"] },
    ]
  }

  limits = {
    cpu    = "1000"
    memory = "4000Gi"
  }
  weight = 10
}
