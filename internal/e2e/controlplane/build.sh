#!/bin/sh
# Builds kube-apiserver and etcd, once, and prints the folder that holds them
# as the only line on stdout.
#
# The folder is named after everything that decides what gets built, and it
# appears with a rename: if it is there, it is complete and it is the right one.
set -eu

cache=${TIDEMARK_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tidemark/e2e}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
cd "$(dirname "$0")"

# However the caller builds (-race, -mod=mod, a workspace): not these two.
export GOFLAGS='-mod=readonly -buildvcs=false' GOWORK=off CGO_ENABLED=0

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

hash=$(cat go.mod go.sum build.sh cmd/etcd/main.go cmd/kube-apiserver/main.go | sha256 | cut -c 1-12)
platform=$(go env GOVERSION GOOS GOARCH | paste -s -d - - | tr ' :' '__')
out=$cache/k8s-$hash-$platform

if [ -d "$out" ]; then
	echo "$out"
	exit
fi

# The build cache is of no use after the build, and big (2.8 GiB).
tmp=$(mktemp -d "$cache/build-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
export GOCACHE="$tmp/gocache"

kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
etcd=$(go list -m -f '{{.Version}}' go.etcd.io/etcd/server/v3)
major=${kubernetes#v}
minor=${major#*.}
major=${major%%.*}
minor=${minor%%.*}
start=$(date +%s)
echo "building kube-apiserver $kubernetes and etcd $etcd; this happens once, and takes 5 minutes on 2 cores" >&2

# Without these, /version says v0.0.0-master.
version=k8s.io/component-base/version
mkdir "$tmp/bin"
go build -trimpath -tags grpcnotrace -o "$tmp/bin/" -ldflags "-s -w \
	-X $version.gitVersion=$kubernetes -X $version.gitMajor=$major -X $version.gitMinor=$minor \
	-X $version.gitTreeState=clean -X $version.gitCommit=0000000000000000000000000000000000000000 \
	-X $version.buildDate=1970-01-01T00:00:00Z" \
	./cmd/kube-apiserver ./cmd/etcd >&2

# When two builds run at once, the later one finds the folder taken, and its
# own moved into it if it came between the test and the rename.
if [ ! -d "$out" ]; then
	name=$(basename "$tmp")
	mv "$tmp/bin" "$tmp/$name"
	mv "$tmp/$name" "$out"
	rm -rf "$out/$name"
fi
echo "built in $(($(date +%s) - start)) s" >&2
echo "$out"
