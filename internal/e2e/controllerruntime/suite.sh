#!/bin/sh
# Runs controller-runtime's own tests of its cache on tidemark and a real
# kube-apiserver. The script copies the sources from the module cache into a
# temporary folder and changes two lines: the first makes the informers ours, the
# second wraps the configuration with reflector.Wire. With BUDGET set, the informers
# hold their objects packed, and so many bytes of them decoded. Arguments go to the
# test program, such as -ginkgo.focus=Get.
set -eu

cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
assets=$("$root/internal/e2e/controlplane/build.sh")
export GOWORK=off GOFLAGS=-mod=mod
from=$(go mod download -json sigs.k8s.io/controller-runtime | sed -n 's/^.*"Dir": "\(.*\)",$/\1/p')

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -R "$from/." "$dir"
chmod -R u+w "$dir"
cd "$dir"

# change FILE IMPORT LINE INSTEAD replaces LINE by INSTEAD, and adds the import.
change() {
	if ! grep -qF "$3" "$1"; then
		echo "suite.sh: $1 has no line $3 any more" >&2
		exit 1
	fi
	awk -v import="$2" -v line="$3" -v instead="$4" '
		$0 == "import (" && !done { print; print "\t\"" import "\""; done = 1; next }
		index($0, line) && !changed { print instead; changed = 1; next }
		{ print }' "$1" >"$1.new"
	mv "$1.new" "$1"
}
module=github.com/tidemark-k8s/tidemark
informers=informer.ForControllerRuntime
if [ -n "${BUDGET:-}" ]; then
	informers="informer.ControllerRuntime{Storage: informer.Storage{Decoded: informer.NewBudget($BUDGET)}}.NewInformer"
fi
change pkg/cache/internal/informers.go $module/informer \
	'newInformer := cache.NewSharedIndexInformer' "newInformer := $informers"
change pkg/cache/cache_suite_test.go $module/reflector \
	'cfg, err = testenv.Start()' 'cfg, err = testenv.Start(); cfg.Wrap(reflector.Wire)'

go mod edit -require $module@v0.0.0 -replace "$module=$root"
go test -c -o suite ./pkg/cache
cd pkg/cache # the paths of its test data are relative to this folder
KUBEBUILDER_ASSETS=$assets "$dir/suite" -ginkgo.no-color -ginkgo.succinct "$@"
