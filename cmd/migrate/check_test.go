package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Check finds what runs client-go's informers in a file.
func TestCheckFile(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"accessors over tidemark's factory": {`
import (
	"github.com/tidemark-k8s/tidemark/factory/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
)

func pods(f informers.SharedInformerFactory) { coreinformers.New(f, "shop", nil).Pods().Informer() }
`, "in.go:8: k8s.io/client-go/informers/core/v1.New\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parse("in.go", []byte("package main\n"+c.text))
			require.NoError(t, err)
			require.Equal(t, c.want, lines(runs(s)))
		})
	}
}
