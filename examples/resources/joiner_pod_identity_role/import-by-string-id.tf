import {
  to = joiner_pod_identity_role.controller
  id = "my-cluster-joiner"
}
