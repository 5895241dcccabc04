import {
  to = joiner_teardown.this
  identity = {
    cluster_name = "my-cluster"
  }
}
