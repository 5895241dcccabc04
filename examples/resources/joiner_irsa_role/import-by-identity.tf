import {
  to = joiner_irsa_role.controller
  identity = {
    name       = "my-cluster-joiner"
    account_id = "123456789012"
  }
}
