#!/usr/bin/env bash
# Prints one table of what is measured: the claim protocol against the published sample, the handler against a bare one, each store's
# throughput, and the benchmarks of the other packages. BENCH=go or BENCH=claim leaves the other part out.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
failed=0

if [[ ${BENCH:-claim} == claim ]]; then
	IDEMPOTENT_BENCH="$rows" go test -count=1 -timeout 30m ./internal/conformance/bench >&2 || failed=1
fi

if [[ ${BENCH:-go} == go ]]; then
	mapfile -t packages < <(git grep -lE '^func Benchmark' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,')
	# -p 1: one package at a time, so that they do not slow each other down.
	go test -p 1 -run '^$' -bench . -benchmem "${packages[@]}" | tee /dev/stderr | awk -v OFS='\t' '
		/^pkg: / { sub(/.*terraform-provider-idempotent\//, "", $2); section = "Benchmarks of " $2 }
		/^Benchmark/ {
			name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
			time = bytes = allocs = ""
			for (i = 3; i < NF; i += 2) {
				if ($(i + 1) == "ns/op") time = $i
				if ($(i + 1) == "B/op") bytes = $i " B"
				if ($(i + 1) == "allocs/op") allocs = $i " allocations"
			}
			if (time >= 1e6) time = sprintf("%.1f ms", time / 1e6)
			else if (time >= 1e3) time = sprintf("%.2f µs", time / 1e3)
			else time = time " ns"
			print section, name, time, bytes, allocs
		}' >>"$rows" || failed=1
fi

awk -F '\t' '
	BEGIN { printf "%-52s  %-44s  %-44s  %s\n", "", "ours", "other", "ratio" }
	$1 != section { section = $1; printf "\n%s\n", section }
	{ printf "  %-50s  %-44s  %-44s  %s\n", $2, $3, $4, $5 }' "$rows"
exit "$failed"
