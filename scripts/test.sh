#!/usr/bin/env bash
# Every test: the packages whose goroutines matter under the race detector, the claim protocol over the stores of one process too, then
# all others. The last line lists the engines that were not found; with IDEMPOTENT_TEST_REQUIRE=all, or a comma list of engines, one
# that is named and missing fails.
set -euo pipefail
cd "$(dirname "$0")/.."
: >"$IDEMPOTENT_TEST_SKIPPED"

# On CI the soak takes its full two minutes, over the store that many processes share best.
if [[ -n ${CI:-} ]]; then
	export IDEMPOTENT_SOAK_DURATION=2m IDEMPOTENT_SOAK_STORE=postgres
fi

raced='/(runtime|internal/localcloud)(/|$)'
mapfile -t all < <(go list ./...)
race=() plain=()
for package in "${all[@]}"; do
	if [[ $package =~ $raced ]]; then race+=("$package"); else plain+=("$package"); fi
done

gotestsum() { go tool -modfile=tools.mod gotestsum --format pkgname --format-hide-empty-pkg -- -timeout 30m "$@"; }
failed=0
gotestsum -race "${race[@]}" || failed=1
gotestsum -race -run '^Test(StoresConform|StoresAreLinearizable|EachWriteGetsOverEachFault|AStormOfFaultsIsGotOver|AWrongClock.*)$' \
	./internal/conformance || failed=1
gotestsum "${plain[@]}" || failed=1

if [[ -s $IDEMPOTENT_TEST_SKIPPED ]]; then
	echo "skipped, engine not found: $(sort -u "$IDEMPOTENT_TEST_SKIPPED" | paste -sd, | sed 's/,/, /g')"
else
	echo 'skipped, engine not found: none'
fi
exit "$failed"
