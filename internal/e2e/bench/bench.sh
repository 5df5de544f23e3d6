#!/usr/bin/env bash
# Runs the benchmarks some rounds, each in a new process, and makes the table of their medians. Without
# flags it writes the table into README.md; with flags of a test binary it prints the table:
#
#	bench.sh -test.bench 'Event/1/' -test.cpuprofile /tmp/cpu.out
#
# ROUNDS says how many rounds; BENCH names a file for the benchmarks' output, which is kept.
set -euo pipefail
: "${GO:=go}" "${ROUNDS:=5}"
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
out=${BENCH:-$tmp/out}

$GO test -c -o "$tmp/bench" .
{
	echo "go: $($GO env GOVERSION)"
	echo "client-go: $($GO list -m -f '{{.Version}}' k8s.io/client-go)"
	for round in $(seq "$ROUNDS"); do
		echo "bench: round $round" >&2
		"$tmp/bench" -test.run '^$' -test.bench . -test.skip EventAll -test.benchtime 100ms "$@"
	done
} >"$out"
$GO tool -modfile=tools/go.mod benchstat -format csv -col /impl "$out" 2>/dev/null >"$tmp/medians"
if [ $# = 0 ]; then
	$GO run ./table -readme README.md <"$tmp/medians"
else
	$GO run ./table <"$tmp/medians"
fi
