# A pool for network appliances: few large nodes with fast network cards, kept for pods that ask for them, with the kernel modules
# that IPVS needs.

variable "region" {
  description = "Region of the cluster; the article's is ap-northeast-2."
  type        = string
  default     = "us-west-2"
}

variable "zones" {
  description = "Zones of the pool, as letters of the region."
  type        = list(string)
  default     = ["a", "c"]
}

resource "joiner_ec2_node_class" "network" {
  name       = "network"
  role       = sandbox_cluster.this.node_role_name
  ami_family = "AL2023"

  ami_selector_terms = [{ alias = "al2023@latest" }]
  subnet_selector_terms = [
    { tags = { "karpenter.sh/discovery" = sandbox_cluster.this.id } }
  ]
  security_group_selector_terms = [
    { tags = { "karpenter.sh/discovery" = sandbox_cluster.this.id } }
  ]

  block_device_mappings = [{
    device_name = "/dev/xvda"
    ebs = {
      volume_size           = "20Gi"
      volume_type           = "gp3"
      iops                  = 3000
      throughput            = 125
      delete_on_termination = true
    }
  }]

  user_data = <<-EOT
    #!/bin/bash
    cat > /etc/modules-load.d/ipvs.conf <<MODULES
    ip_vs
    ip_vs_rr
    ip_vs_wrr
    ip_vs_sh
    nf_conntrack
    MODULES
    for module in ip_vs ip_vs_rr ip_vs_wrr ip_vs_sh nf_conntrack; do
      modprobe "$module"
    done
  EOT

  depends_on = [joiner_helm_release.controller]
}

resource "joiner_node_pool" "network" {
  name = "network"

  template = {
    metadata = {
      labels = { networkNode = "true" }
    }
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.network.name }
      requirements = [
        { key = "node.kubernetes.io/instance-type", operator = "In", values = ["c5n.4xlarge"] },
        { key = "topology.kubernetes.io/zone", operator = "In", values = [for zone in var.zones : "${var.region}${zone}"] },
        { key = "karpenter.sh/capacity-type", operator = "In", values = ["on-demand"] },
        { key = "kubernetes.io/arch", operator = "In", values = ["amd64"] },
      ]
      taints = [
        { key = "networkNode", value = "true", effect = "NoSchedule" }
      ]
      # 14 days.
      expire_after = "336h"
    }
  }

  disruption = {
    consolidation_policy = "WhenEmpty"
    consolidate_after    = "30s"
  }
}
