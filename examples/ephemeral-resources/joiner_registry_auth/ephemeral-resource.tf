# A provider with nothing but the account: the login below cannot come from the one that uses it.
provider "joiner" {
  alias = "account"
  aws   = { region = "eu-central-1" }
}

ephemeral "joiner_registry_auth" "charts" {
  provider = joiner.account
}

provider "joiner" {
  eks = { cluster_name = "my-cluster" }
  registries = [{
    url      = ephemeral.joiner_registry_auth.charts.url
    username = ephemeral.joiner_registry_auth.charts.username
    password = ephemeral.joiner_registry_auth.charts.password
  }]
}
