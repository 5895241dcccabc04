output "thirty_days" {
  # 720h0m0s
  value = provider::joiner::normalize_duration("43200m")
}
