#!/usr/bin/env bash
# Lints what users get: a handler of each kind that has code of theirs, by this repository's linters. LINTER names golangci-lint where it
# is built already.
set -euo pipefail
cd "$(dirname "$0")/.."
linter=${LINTER:-$(go tool -modfile=tools.mod -n golangci-lint)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -o "$scratch/generate" .

failed=0
lint() { # FOLDER FLAG…
	local root=$PWD out=$scratch/$1
	"$scratch/generate" generate --name orders --out "$out" "${@:2}" >"$scratch/log"
	go mod edit -replace "github.com/idempotent-jobs/terraform-provider-idempotent=$root" "$out/go.mod"
	(cd "$out" && GOWORK=off go mod tidy) 2>"$scratch/log" || { cat "$scratch/log" >&2 && exit 1; }
	echo "generated, $1:"
	(cd "$out" && GOWORK=off "$linter" run -c "$root/.golangci.yml" ./...) || failed=1
}

lint http --kind http --store sqlite --package orders --job a-job --job b-job
lint function --kind function --store sqlite
lint webhook --kind webhook --store postgres --webhook events=invoice.paid,customer.created
lint webhook-any-event --kind webhook --store sqlite --package orders
lint api --kind api --store postgres
lint api-tenant-header --kind api --store sqlite --package orders --api tenant_header=X-Workspace --api lapse=in_transaction
exit "$failed"
