output "fits" {
  value = provider::joiner::requirements_match(
    [{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }],
    { "kubernetes.io/arch" = "amd64" },
  )
}
