data "joiner_versions" "this" {}

output "chart" {
  description = "Version of the chart that joiner_helm_release installs by default."
  value       = data.joiner_versions.this.chart_version
}
