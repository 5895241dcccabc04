import {
  to = joiner_helm_release.controller
  identity = {
    namespace = "kube-system"
    name      = "joiner"
  }
}
