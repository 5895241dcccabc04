import {
  to = joiner_helm_release.controller
  id = "kube-system/joiner"
}
