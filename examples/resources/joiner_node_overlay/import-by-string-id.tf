import {
  to = joiner_node_overlay.discount
  id = "discount"
}
