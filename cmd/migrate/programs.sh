#!/usr/bin/env bash
# Migrates published programs to this checkout of tidemark, and runs their tests before and after. PROGRAM
# selects programs in programs.txt by a part of their path.
set -euo pipefail
cd "$(dirname "$0")"

kubernetes=v0.37.2 # the version of client-go that tidemark requires
runtime=v0.25.2    # and that of controller-runtime
tidemark=$(cd ../.. && pwd)
openapi=$(go -C "$tidemark" list -m -f '{{.Version}}' k8s.io/kube-openapi)
here=$PWD
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
go build -o "$work/migrate" .

# migrate migrates the program, and prints what it says.
migrate() {
	"$work/migrate" -tidemark "$tidemark" ./... 2>&1 | sed 's/^/   /'
}

# refused runs migrate where it must change nothing.
refused() {
	if migrate; then
		echo "   migrate does not refuse it"
		status=1
	fi
}

# tests runs a program's tests, and counts those that pass and fail.
tests() {
	go test -json -timeout 20m "$@" >"$work/out" 2>"$work/err" || true
	passed=$(grep -c '"Action":"pass".*"Test":' "$work/out" || true)
	failed=$(grep '"Action":"fail".*"Test":' "$work/out" | sed 's/.*"Package":"\([^"]*\)","Test":"\([^"]*\)".*/\1 \2/' | sort -u || true)
	broken=$(grep -c 'build failed' "$work/out" || true)
}

status=0
KUBEBUILDER_ASSETS=
while read -r module version packages layout; do
	case $module in "#"* | "") continue ;; *"${PROGRAM:-}"*) ;; *) continue ;; esac
	echo "== $module $version"
	dir="$work/program"
	rm -rf "$dir"
	folder=$(go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	cp -r "$folder" "$dir"
	chmod -R u+w "$dir"
	cd "$dir"
	packages=${packages//,/ }
	[ "$layout" != servers ] || KUBEBUILDER_ASSETS=$("$tidemark/internal/e2e/controlplane/build.sh")
	export GOFLAGS=-mod=mod GOWORK=off KUBEBUILDER_ASSETS
	rm -rf vendor # archives of modules have only the OWNERS file of it
	for replaced in $(sed -n 's/^\(replace \|\t\)\([^ ]*\) => \(\.\/\|k8s\.io\/\).*/\2/p' go.mod); do # use the published module instead
		go mod edit -dropreplace="$replaced"
		if grep -q "$replaced v0.0.0\$" go.mod; then go mod edit -require="$replaced@$kubernetes"; fi
		if grep -q "$replaced v0.0.0-0001" go.mod; then go mod edit -require="$replaced@$version"; fi
		if [ "$replaced" = k8s.io/kube-openapi ]; then go mod edit -replace="$replaced=$replaced@$openapi"; fi # programs require versions that the proxy does not have
	done
	# First test the program with client-go only, in the version that tidemark requires.
	raised=$(go list -m -f '{{if not .Indirect}}{{.Path}}{{end}}' all | sed -nE "
		s#^k8s.io/(api|apimachinery|apiserver|apiextensions-apiserver|client-go|cluster-bootstrap|component-base|component-helpers|controller-manager|csi-translation-lib|kubelet|metrics)\$#&@$kubernetes#p
		s#^sigs.k8s.io/controller-runtime\$#&@$runtime#p" || true)
	# shellcheck disable=SC2086
	go get $raised >/dev/null 2>&1 || echo "   it cannot be updated to $kubernetes"
	go mod tidy >/dev/null 2>&1 || true
	# shellcheck disable=SC2086
	tests $packages
	before=$passed before_failed=$failed
	echo "   before: $passed tests pass, $(grep -c . <<<"$failed" || true) fail, $broken packages do not build"
	case $layout in
	vendor)
		go mod vendor
		refused
		rm -rf vendor
		migrate || status=1
		go mod vendor
		export GOFLAGS=-mod=vendor
		;;
	work)
		sed -i '/^\t.\/staging\//d' go.work # these modules are not in the archive
		export GOFLAGS= GOWORK=
		refused
		GOWORK=off migrate || status=1
		go work use
		;;
	*) migrate || status=1 ;;
	esac
	byhand="$here/testdata/byhand/${module##*/}.diff" # what migrate leaves for a person
	[ ! -f "$byhand" ] || git apply "$byhand" || status=1
	# shellcheck disable=SC2086
	"$work/migrate" -check $packages >"$work/check" 2>&1 || { status=1; sed 's/^/   /' "$work/check"; }
	# shellcheck disable=SC2086
	tests $packages
	echo "   after: $passed tests pass, $broken packages do not build"
	new=$(comm -13 <(echo "$before_failed") <(echo "$failed"))
	while read -r name; do
		case $name in "") continue ;; esac
		if reason=$(grep -F "$name: " "$here/exceptions.txt"); then
			echo "   fails by design: $reason"
			before=$((before - 1))
		else
			echo "   fails now: $name"
		fi
	done <<<"$new"
	if [ "$passed" -lt "$before" ]; then
		status=1
		grep -h "build failed\|\.go:[0-9]*:[0-9]*:" "$work/out" "$work/err" | head -20
	fi
	unset GOFLAGS GOWORK
	cd "$OLDPWD"
done <programs.txt
exit $status
