import {
  to = joiner_node_role.nodes
  id = "my-cluster-nodes"
}
