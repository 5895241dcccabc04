import {
  to = joiner_interruption_queue.this
  id = "my-cluster"
}
