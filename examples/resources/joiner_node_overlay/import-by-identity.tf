import {
  to = joiner_node_overlay.discount
  identity = {
    name = "discount"
  }
}
