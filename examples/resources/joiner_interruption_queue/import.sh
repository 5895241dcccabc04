# By the queue's name.
tofu import joiner_interruption_queue.this my-cluster
