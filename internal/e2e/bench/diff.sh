#!/usr/bin/env bash
# Compares this tidemark with that of another revision, by the benchmarks as
# they are here, and has benchstat judge: diff.sh REF [flags of bench]. ROUNDS
# says how often the two take turns.
set -euo pipefail
: "${1:?which revision? make bench-diff REF=main~1}" "${GO:=go}" "${ROUNDS:=6}"
cd "$(dirname "$0")"
ref=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "bench-diff: there is no revision $1" >&2; exit 1; }
shift

tmp=$(mktemp -d)
trap 'git worktree remove --force "$tmp/tree" 2>/dev/null || true; rm -rf "$tmp"' EXIT
git worktree add --quiet --detach "$tmp/tree" "$ref"

# The same code and dependencies, over the other revision's module.
cp go.mod "$tmp/old.mod"
cp go.sum "$tmp/old.sum"
$GO mod edit -replace "github.com/tidemark-k8s/tidemark=$tmp/tree" "$tmp/old.mod"
$GO build -modfile="$tmp/old.mod" -o "$tmp/bench-old" .
$GO build -o "$tmp/bench-new" .

# -only and -impl can be given again; the last one counts.
for _ in $(seq "$ROUNDS"); do
	for side in old new; do
		"$tmp/bench-$side" -rounds 1 -impl 'native|face' -only '^(event|sync|get|list|update)' "$@" -benchstat "$tmp/$side" >/dev/null
	done
done
$GO tool -modfile=tools/go.mod benchstat "old=$tmp/old" "new=$tmp/new"
