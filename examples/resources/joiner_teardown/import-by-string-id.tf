import {
  to = joiner_teardown.this
  id = "my-cluster"
}
