output "role" {
  value = provider::joiner::ec2_node_class_from_yaml(file("${path.module}/class.yaml")).role
}
