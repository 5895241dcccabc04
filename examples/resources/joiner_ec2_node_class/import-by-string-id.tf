import {
  to = joiner_ec2_node_class.default
  id = "default"
}
