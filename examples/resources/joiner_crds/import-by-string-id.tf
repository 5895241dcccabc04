import {
  to = joiner_crds.this
  id = "crds"
}
