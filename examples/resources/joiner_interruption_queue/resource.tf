resource "joiner_interruption_queue" "this" {
  name = aws_eks_cluster.this.id

  tags = {
    team = "platform"
  }
}

output "interruption_queue" {
  description = "What the controller reads: settings.interruptionQueue of its release."
  value       = joiner_interruption_queue.this.name
}
