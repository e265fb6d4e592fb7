#!/usr/bin/env bash
# The soak for as long as DURATION says (default 2m), over STORE sqlite or postgres (default sqlite); SEED repeats what was drawn.
set -euo pipefail
cd "$(dirname "$0")/.."
export IDEMPOTENT_SOAK_DURATION="${DURATION:-2m}" IDEMPOTENT_SOAK_STORE="${STORE:-sqlite}" IDEMPOTENT_SOAK_SEED="${SEED:-}"
exec go test -count=1 -timeout 24h -v -run '^TestNothingIsLostOrDoneTwice$' ./internal/conformance/soak
