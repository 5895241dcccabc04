# The controller, from the chart that the provider carries.
resource "joiner_helm_release" "controller" {
  name      = joiner_irsa_role.controller.service_account
  namespace = joiner_irsa_role.controller.namespace

  values = {
    settings = {
      clusterName       = aws_eks_cluster.this.id
      interruptionQueue = aws_sqs_queue.interruption.name
    }
    serviceAccount = {
      annotations = { "eks.amazonaws.com/role-arn" = joiner_irsa_role.controller.arn }
    }
  }
}

# Any other chart, from a registry.
resource "joiner_helm_release" "metrics_server" {
  name             = "metrics-server"
  namespace        = "monitoring"
  create_namespace = true
  chart            = "oci://registry.example.com/charts/metrics-server"
  version          = "3.13.0"

  # A list is merged in order; texts are YAML.
  values = [
    file("${path.module}/values.yaml"),
    { replicas = 2 },
  ]
  # A password that is in no plan and no state; a new version writes it anew.
  set_wo = [
    { name = "auth.password", value = var.password, type = "string" }
  ]
  set_wo_version = 1
  atomic         = true
  timeout        = "10m"
}
