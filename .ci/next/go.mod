// The pre-release that `make test-next-client-go` uses, and the Go that it needs. What it requires could not be
// downloaded at its version; the replacement could.
module next

go 1.27.0

toolchain go1.27.3

require k8s.io/client-go v0.38.0-beta.0

replace sigs.k8s.io/structured-merge-diff/v7 => sigs.k8s.io/structured-merge-diff/v7 v7.0.0
