#!/usr/bin/env bash
# Prints one table of what is measured: the round trips of each store, the claim protocol against the published sample, the handler
# against a bare one, each store's throughput, a thousand jobs against the resource of Google's provider, and the benchmarks of the
# other packages, with whatever they report. BENCH=go or BENCH=claim leaves the other part out.
set -euo pipefail
cd "$(dirname "$0")/.."

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
failed=0

# tabulate reads the output of go test -bench. A benchmark FooOfGoogle, or its FooOfGoogle/case, is what Foo and Foo/case are compared
# with.
tabulate() {
	awk -v OFS='\t' '
		function spell(value, unit) {
			if (unit != "ns/op") return value " " (unit == "B/op" ? "B" : unit == "allocs/op" ? "allocations" : unit)
			if (value >= 1e9) return sprintf("%.2f s", value / 1e9)
			if (value >= 1e6) return sprintf("%.1f ms", value / 1e6)
			if (value >= 1e3) return sprintf("%.2f µs", value / 1e3)
			return value " ns"
		}
		function flush(i, name, other) {
			for (i = 1; i <= count; i++) {
				name = names[i]; other = name "/"
				if (name ~ /OfGoogle(\/|$)/) continue
				sub(/\//, "OfGoogle/", other); sub(/\/$/, "", other)
				if (other in text) print section, name, text[name], text[other], sprintf("%.2fx", time[other] / time[name])
				else print section, name, text[name], "", ""
			}
			count = 0; delete text; delete time
		}
		/^pkg: / { flush(); sub(/.*terraform-provider-idempotent\//, "", $2); section = "Benchmarks of " $2 }
		/^Benchmark/ && NF > 3 {
			name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name)
			names[++count] = name; text[name] = ""; time[name] = 0
			for (i = 3; i < NF; i += 2) {
				if ($(i + 1) == "ns/op") time[name] = $i
				text[name] = text[name] (i > 3 ? ", " : "") spell($i, $(i + 1))
			}
		}
		END { flush() }'
}

if [[ ${BENCH:-claim} == claim ]]; then
	IDEMPOTENT_BENCH="$rows" go test -count=1 -timeout 30m -run 'RoundTrips$' ./internal/conformance >&2 || failed=1
	IDEMPOTENT_BENCH="$rows" go test -count=1 -timeout 30m ./internal/conformance/bench >&2 || failed=1
fi

if [[ ${BENCH:-go} == go ]]; then
	# What takes a real Terraform minutes is run once.
	go test -timeout 30m -run '^$' -bench . -benchtime 1x ./provider/internal/scale | tee /dev/stderr | tabulate >>"$rows" || failed=1

	mapfile -t packages < <(git grep -lE '^func Benchmark' -- '*_test.go' ':!provider/internal/scale' | xargs -n1 dirname | sort -u | sed 's,^,./,')
	# -p 1: one package at a time, so that they do not slow each other down.
	go test -p 1 -timeout 30m -run '^$' -bench . -benchmem "${packages[@]}" | tee /dev/stderr | tabulate >>"$rows" || failed=1
fi

sort -s -t $'\t' -k1,1 "$rows" | awk -F '\t' '
	BEGIN { printf "%-60s  %-60s  %-44s  %s\n", "", "ours", "other", "ratio" }
	$1 != section { section = $1; printf "\n%s\n", section }
	{ printf "  %-58s  %-60s  %-44s  %s\n", $2, $3, $4, $5 }'
exit "$failed"
