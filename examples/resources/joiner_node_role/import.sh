# By the role's name.
tofu import joiner_node_role.nodes my-cluster-nodes
