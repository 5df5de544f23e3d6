#!/usr/bin/env bash
# Runs several rounds of a folder's benchmarks, each in a new process, and makes a table of the medians:
#
#	bench.sh FOLDER FILE [flags of the test binary]
#
# It writes the tables to FILE, relative to FOLDER. With flags, it prints them instead. ROUNDS is the number of
# rounds. OUTPUT names a file for the output of the benchmarks.
set -euo pipefail
: "${GO:=go}" "${ROUNDS:=5}" "${2:?which folder, and which file?}"
tools=$(cd "$(dirname "$0")" && pwd)/tools/go.mod
cd "$1"
file=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
output=${OUTPUT:-$tmp/output}

$GO test -c -o "$tmp/bench" .
{
	echo "go: $($GO env GOVERSION)"
	echo "client-go: $($GO list -m -f '{{.Version}}' k8s.io/client-go)"
	for round in $(seq "$ROUNDS"); do
		echo "bench: round $round of $ROUNDS" >&2
		"$tmp/bench" -test.run '^$' -test.bench . -test.timeout 60m ${BENCHDEFAULTS:-} "$@"
	done
} >"$output"
$GO tool -modfile="$tools" benchstat -format csv -col /impl "$output" 2>/dev/null >"$tmp/medians"
if [ $# = 0 ]; then
	$GO run ./table -file "$file" <"$tmp/medians"
else
	$GO run ./table <"$tmp/medians"
fi
