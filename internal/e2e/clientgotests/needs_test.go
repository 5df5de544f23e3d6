package main

// client-go's tests import these packages. The imports keep them in go.mod.
import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/stretchr/testify/require"
	_ "github.com/tidemark-k8s/tidemark/informer/cache"
	_ "go.uber.org/goleak"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/client-go/tools/cache"
	_ "k8s.io/klog/v2/ktesting"
	_ "k8s.io/utils/ptr"
)
