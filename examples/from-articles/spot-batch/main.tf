# A pool for batch work: small arm64 spot instances on Bottlerocket, at most 16 vCPU together. Pods beyond that stay pending, and an
# event says why.

resource "joiner_ec2_node_class" "batch" {
  name = "batch"
  role = sandbox_cluster.this.node_role_name

  ami_selector_terms = [{ alias = "bottlerocket@latest" }]
  subnet_selector_terms = [
    {
      tags = {
        "kubernetes.io/role/internal-elb" = "1"
        "karpenter.sh/discovery"          = sandbox_cluster.this.id
      }
    }
  ]
  security_group_selector_terms = [
    { tags = { "karpenter.sh/discovery" = sandbox_cluster.this.id } }
  ]

  depends_on = [joiner_helm_release.controller]
}

resource "joiner_node_pool" "batch" {
  name   = "batch"
  weight = 80

  template = {
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.batch.name }
      requirements = [
        { key = "kubernetes.io/arch", operator = "In", values = ["arm64"] },
        { key = "karpenter.sh/capacity-type", operator = "In", values = ["spot"] },
        { key = "karpenter.k8s.aws/instance-category", operator = "In", values = ["c", "m", "r"] },
        { key = "karpenter.k8s.aws/instance-cpu", operator = "In", values = ["4"] },
      ]
      expire_after = "720h"
    }
  }

  disruption = {
    consolidation_policy = "WhenEmpty"
    consolidate_after    = "1m"
  }

  limits = {
    cpu = "16"
  }
}
