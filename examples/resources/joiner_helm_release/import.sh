# By namespace and name.
tofu import joiner_helm_release.controller kube-system/joiner
