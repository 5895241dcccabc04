# By the role's name.
tofu import joiner_pod_identity_role.controller my-cluster-joiner
