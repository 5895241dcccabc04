import {
  to = joiner_pod_identity_role.controller
  identity = {
    name       = "my-cluster-joiner"
    account_id = "123456789012"
  }
}
