# By the NodePool's name.
tofu import joiner_node_pool.general general
