#!/usr/bin/env bash
# Writes the provider's pages (docs/index.md and the folders of resources, data sources, functions and ephemeral resources) from the provider's schema and the examples.
# Usage: docs/tools/generate.sh FOLDER-OF-BUILT-BINARIES CORE
# tfplugindocs clears the folder it writes to, so it works on a copy; it finds a schema only under the default namespace.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
binaries=$(realpath "$1")
core=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/cli.tfrc" <<CONFIG
provider_installation {
  dev_overrides {
    "joiner-dev/joiner" = "$binaries"
  }
}
CONFIG
mkdir "$work/core" "$work/site"
cat > "$work/core/main.tf" <<'CONFIG'
terraform {
  required_providers {
    joiner = {
      source = "joiner-dev/joiner"
    }
  }
}
CONFIG
(cd "$work/core" && TF_CLI_CONFIG_FILE="$work/cli.tfrc" "$core" providers schema -json) |
  sed 's#registry\.[a-z]*\.[a-z]*/joiner-dev/joiner#registry.terraform.io/hashicorp/joiner#' > "$work/schema.json"

go build -C "$root/docs/tools" -mod=readonly -o "$work/tfplugindocs" github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs
mkdir "$work/site/examples"
for kind in provider resources data-sources functions ephemeral-resources; do
  cp -r "$root/examples/$kind" "$work/site/examples/"
done
(cd "$work/site" && "$work/tfplugindocs" generate --providers-schema "$work/schema.json" \
  --provider-name joiner --rendered-provider-name Joiner > "$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
rm -rf "$root/docs/resources" "$root/docs/data-sources" "$root/docs/functions" "$root/docs/ephemeral-resources"
cp -r "$work/site/docs/." "$root/docs/"
