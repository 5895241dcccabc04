import {
  to = joiner_node_pool.general
  id = "general"
}
