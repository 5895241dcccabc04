import {
  to = joiner_irsa_role.controller
  id = "my-cluster-joiner"
}
