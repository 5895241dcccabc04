# By the cluster's name.
tofu import joiner_teardown.this my-cluster
