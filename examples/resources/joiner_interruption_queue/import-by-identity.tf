import {
  to = joiner_interruption_queue.this
  identity = {
    name       = "my-cluster"
    account_id = "123456789012"
    region     = "eu-central-1"
  }
}
