#!/usr/bin/env bash
# Compares tidemark with another revision of it: diff.sh REF [flags of a test binary].
# Each side runs its own benchmarks, in turns. Rows are paired by name. REF's side uses the current
# benchmark files if REF has files with these names and they compile there, so that both sides measure
# the same. ROUNDS is the number of rounds per side.
#
# The last lines list the rows that are worse, with a difference that benchstat calls significant.
set -euo pipefail
: "${1:?which revision? make bench-diff REF=main~1}" "${GO:=go}" "${ROUNDS:=10}"
cd "$(dirname "$0")"
ref=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "bench-diff: there is no revision $1" >&2; exit 1; }
shift

tmp=$(mktemp -d)
trap 'git worktree remove --force "$tmp/tree" 2>/dev/null || true; rm -rf "$tmp"' EXIT
git worktree add --quiet --detach "$tmp/tree" "$ref"

theirs=$tmp/tree/$(git rev-parse --show-prefix)
for file in *_test.go; do
	if [ -e "$theirs/$file" ]; then cp "$file" "$theirs/$file"; fi
done
if ! (cd "$theirs" && $GO test -c -o "$tmp/bench-old" . 2>/dev/null); then
	echo "bench-diff: the current benchmarks do not compile at $ref, which runs its own ones" >&2
	git -C "$tmp/tree" restore .
	(cd "$theirs" && $GO test -c -o "$tmp/bench-old" .)
fi
$GO test -c -o "$tmp/bench-new" .

for _ in $(seq "$ROUNDS"); do
	for side in old new; do
		"$tmp/bench-$side" -test.run '^$' -test.bench '//impl=(typed|clientgo-api)' -test.skip 'EventAll|Peak|Million' -test.benchtime 100ms -test.timeout 60m "$@" >>"$tmp/$side"
	done
done
grep -q '^Benchmark' "$tmp/new" || { echo "bench-diff: no benchmark has run" >&2; exit 1; }
benchstat() { $GO tool -modfile=tools/go.mod benchstat "$@" "old=$tmp/old" "new=$tmp/new"; }
benchstat

# If more is better, the name of the unit ends in /s.
echo
benchstat -format csv 2>/dev/null | awk -F, '
	$2 ~ /^old/ { getline; unit = $2 }
	$6 ~ /^[+-]/ && $1 != "geomean" && (($6 ~ /^\+/) != (unit ~ /\/s$/)) { print "worse: " $1 ", " unit ": " $6; worse++ }
	END { print "bench-diff: " worse + 0 " rows are worse" }'
