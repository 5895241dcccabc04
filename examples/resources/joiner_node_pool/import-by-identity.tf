import {
  to = joiner_node_pool.general
  identity = {
    name = "general"
  }
}
