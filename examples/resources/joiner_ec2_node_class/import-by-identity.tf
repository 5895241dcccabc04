import {
  to = joiner_ec2_node_class.default
  identity = {
    name = "default"
  }
}
