resource "joiner_ec2_node_class" "default" {
  name = "default"
  role = aws_iam_role.node.name

  ami_selector_terms = [{ alias = "al2023@v20260903" }]
  subnet_selector_terms = [
    { tags = { "karpenter.sh/discovery" = var.cluster_name } }
  ]
  security_group_selector_terms = [
    { tags = { "karpenter.sh/discovery" = var.cluster_name } }
  ]

  block_device_mappings = [{
    device_name = "/dev/xvda"
    ebs = {
      volume_size           = "50Gi"
      volume_type           = "gp3"
      encrypted             = true
      delete_on_termination = true
    }
  }]
  metadata_options = {
    http_put_response_hop_limit = 1
    http_tokens                 = "required"
  }
  kubelet = {
    max_pods = 110
    system_reserved = {
      cpu    = "100m"
      memory = "200Mi"
    }
  }
  tags = {
    team = "platform"
  }

  # On destroy the controller cleans up after the class, so it must still run then.
  depends_on = [joiner_helm_release.controller]
}
