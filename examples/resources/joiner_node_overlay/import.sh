# By the NodeOverlay's name.
tofu import joiner_node_overlay.discount discount
