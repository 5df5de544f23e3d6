// Package guides runs the programs with which the guides begin. Each takes the configuration of a cluster; the tests
// give it that of an API server in memory.
package guides

import (
	"context"
	"log"
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// on runs a program on a cluster with some objects.
func on(program func(context.Context, *rest.Config, *log.Logger) error, objects ...runtime.Object) {
	out := log.New(os.Stdout, "", 0)
	server := informertest.New(informertest.Options{})
	defer server.Close()
	if err := server.StartInMemory(); err != nil {
		out.Println(err)
	}
	ctx := context.Background()
	for _, obj := range objects {
		if err := server.Create(ctx, obj); err != nil {
			out.Println(err)
		}
	}
	if err := program(ctx, server.ClientConfig(), out); err != nil {
		out.Println(err)
	}
}
