#!/usr/bin/env bash
# Writes the registry pages (index, resources, data sources, functions) below the folder $1, docs/ unless given, from the schema, the
# examples and templates/docs. It touches nothing else there. CLI names the Terraform or OpenTofu that reads the schema.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-docs}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

go build -o "$scratch/terraform-provider-idempotent" .
printf 'provider_installation {\n  dev_overrides {\n    "idempotent-jobs/idempotent" = "%s"\n  }\n}\n' "$scratch" >"$scratch/cli.tfrc"
mkdir "$scratch/schema"
printf 'terraform {\n  required_providers {\n    idempotent = {\n      source = "idempotent-jobs/idempotent"\n    }\n  }\n}\n' \
	>"$scratch/schema/main.tf"
# The generator knows a provider by its short name, or as one of HashiCorp's.
(cd "$scratch/schema" && TF_CLI_CONFIG_FILE=$scratch/cli.tfrc CHECKPOINT_DISABLE=1 "${CLI:-terraform}" providers schema -json) |
	sed -E 's#"registry\.[a-z]+\.[a-z]+/idempotent-jobs/idempotent"#"idempotent"#' >"$scratch/schema.json"

# A copy of what it reads: it cleans the folder that it writes to.
mkdir "$scratch/pages" "$scratch/pages/docs"
cp -r examples templates "$scratch/pages/"
go tool -modfile=tools.mod tfplugindocs generate --provider-dir "$scratch/pages" --provider-name idempotent \
	--website-source-dir templates/docs --providers-schema "$scratch/schema.json" >"$scratch/log" 2>&1 || {
	cat "$scratch/log" >&2
	exit 1
}

mkdir -p "$out"
for page in index.md resources data-sources functions; do
	rm -rf "${out:?}/$page"
	cp -r "$scratch/pages/docs/$page" "$out/$page"
done
