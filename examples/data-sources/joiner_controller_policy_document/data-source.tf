# For a role that is made elsewhere.
data "joiner_controller_policy_document" "controller" {
  cluster_name   = "my-cluster"
  region         = "eu-central-1"
  account_id     = "123456789012"
  node_role_arns = ["arn:aws:iam::123456789012:role/my-cluster-nodes"]
}

resource "aws_iam_policy" "controller" {
  name   = "my-cluster-joiner"
  policy = data.joiner_controller_policy_document.controller.json
}
