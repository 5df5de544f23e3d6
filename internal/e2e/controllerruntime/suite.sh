#!/bin/sh
# Runs controller-runtime's own tests of its cache on tidemark and a real
# kube-apiserver. The script copies the sources from the module cache into a
# temporary folder, where controllerruntime.Use makes the tests' caches. With
# BUDGET set, the informers pack their objects, and keep this many bytes of them
# decoded. Arguments go to the test program, such as -ginkgo.focus=Get.
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

cat >pkg/cache/tidemark_test.go <<'EOF'
package cache_test

import (
	"os"
	"strconv"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/informer"
)

// newCache makes a cache on tidemark. Tests with options that Use refuses get controller-runtime's cache.
func newCache(config *rest.Config, o cache.Options) (cache.Cache, error) {
	if o.NewInformer != nil || o.HTTPClient != nil {
		return cache.New(config, o)
	}
	var more []controllerruntime.Option
	if n, err := strconv.ParseInt(os.Getenv("BUDGET"), 10, 64); err == nil {
		more = append(more, controllerruntime.Storage(informer.Storage{Decoded: informer.NewBudget(n)}))
	}
	config = rest.CopyConfig(config)
	if _, err := controllerruntime.Use(config, &o, more...); err != nil {
		return nil, err
	}
	return cache.New(config, o)
}
EOF
tests=$(grep -l '^package cache_test$' pkg/cache/*_test.go | grep -v /tidemark_test.go)
if ! grep -q '\bcache\.New\b' $tests; then
	echo "suite.sh: the tests do not call cache.New any more" >&2
	exit 1
fi
sed -i.old 's/\bcache\.New\b/newCache/g' $tests

module=github.com/tidemark-k8s/tidemark
for m in $module $module/controllerruntime $module/factory/metrics; do
	go mod edit -require "$m@v0.0.0" -replace "$m=$root${m#"$module"}"
done
go test -c -o suite ./pkg/cache
cd pkg/cache # the paths of its test data are relative to this folder
KUBEBUILDER_ASSETS=$assets "$dir/suite" -ginkgo.no-color -ginkgo.succinct "$@"
