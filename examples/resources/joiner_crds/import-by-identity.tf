import {
  to = joiner_crds.this
  identity = {
    name = "crds"
  }
}
