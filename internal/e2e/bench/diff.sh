#!/usr/bin/env bash
# Compares this tidemark with the tidemark of another revision, by the benchmarks of this revision and
# benchstat: diff.sh REF [flags of a test binary]. ROUNDS is the number of rounds of each revision.
set -euo pipefail
: "${1:?which revision? make bench-diff REF=main~1}" "${GO:=go}" "${ROUNDS:=6}"
cd "$(dirname "$0")"
ref=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "bench-diff: there is no revision $1" >&2; exit 1; }
shift

tmp=$(mktemp -d)
trap 'git worktree remove --force "$tmp/tree" 2>/dev/null || true; rm -rf "$tmp"' EXIT
git worktree add --quiet --detach "$tmp/tree" "$ref"

# The same benchmarks and dependencies, with the module of the other revision.
cp go.mod "$tmp/old.mod"
cp go.sum "$tmp/old.sum"
$GO mod edit -replace "github.com/tidemark-k8s/tidemark=$tmp/tree" "$tmp/old.mod"
$GO test -c -modfile="$tmp/old.mod" -o "$tmp/bench-old" .
$GO test -c -o "$tmp/bench-new" .

for _ in $(seq "$ROUNDS"); do
	for side in old new; do
		"$tmp/bench-$side" -test.run '^$' -test.bench '(Event|Sync|Relist|Read|Lister|Update|Join)/./impl=(typed|clientgo-api)' -test.skip 'EventAll|Peak' -test.benchtime 100ms "$@" >>"$tmp/$side"
	done
done
grep -q '^Benchmark' "$tmp/new" || { echo "bench-diff: no benchmark has run" >&2; exit 1; }
$GO tool -modfile=tools/go.mod benchstat "old=$tmp/old" "new=$tmp/new"
