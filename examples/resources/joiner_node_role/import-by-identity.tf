import {
  to = joiner_node_role.nodes
  identity = {
    name       = "my-cluster-nodes"
    account_id = "123456789012"
  }
}
