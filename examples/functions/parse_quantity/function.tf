output "cores" {
  # 1.5
  value = provider::joiner::parse_quantity("1500m")
}
