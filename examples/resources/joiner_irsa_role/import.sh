# By the role's name.
tofu import joiner_irsa_role.controller my-cluster-joiner
