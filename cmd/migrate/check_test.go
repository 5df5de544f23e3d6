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
		"a dot import of constructors": {`
import . "k8s.io/client-go/informers/core/v1"

var pods = NewPodInformer(client, "", 0, nil)
`, "in.go:3: all names of k8s.io/client-go/informers/core/v1\n"},
		"a dot import of controller-runtime": {`
import . "sigs.k8s.io/controller-runtime"

var manager, err = NewManager(config, Options{})
`, "in.go:3: all names of sigs.k8s.io/controller-runtime\n"},
		"a package whose name is not that of its folder": {`
import (
	"k8s.io/client-go/tools/cache"

	"example.com/program/internal/cache"
)

var store, other = cache.NewStore, podcache.New
`, "in.go:9: k8s.io/client-go/tools/cache.NewStore\n"},
		"a manager of controller-runtime": {`
import ctrl "sigs.k8s.io/controller-runtime"

var manager, err = ctrl.NewManager(config, ctrl.Options{})
`, "in.go:5: a cache of controller-runtime\n"},
		"a manager with tidemark's informers": {`
import (
	"github.com/tidemark-k8s/tidemark/informer"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

var manager, err = ctrl.NewManager(config, ctrl.Options{Cache: cache.Options{NewInformer: informer.ForControllerRuntime}})
`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parse("in.go", []byte("package main\n"+c.text))
			require.NoError(t, err)
			require.Equal(t, c.want, lines(runs(s)))
		})
	}
}

// Packages of the main module belong to the program if a matching package imports them.
func TestCheckOfOnePackage(t *testing.T) {
	p := write(t, map[string]string{
		"main.go":         "package main\n\nimport _ \"example.com/program/lib\"\n\nfunc main() {}\n",
		"lib/lib.go":      "package lib\n\nimport \"k8s.io/client-go/tools/cache\"\n\nvar store = cache.NewStore\n",
		"go.mod":          goMod + "\nreplace k8s.io/client-go => ./clientgo\n",
		"clientgo/go.mod": "module k8s.io/client-go\n", "clientgo/tools/cache/cache.go": "package cache\n\nfunc NewStore() {}\n",
	})
	want := p.migrate(1, "-check", "./...")
	require.Contains(t, want, "the program runs client-go's informers:\nlib/lib.go:5: ")
	require.Equal(t, want, p.migrate(1, "-check", "."))
	require.Equal(t, "nothing to change\n", p.migrate(0, "."))
}

// Dependencies that make a manager are listed.
func TestCheckOfADependencyWithAManager(t *testing.T) {
	p := write(t, map[string]string{
		"main.go": "package main\n\nimport _ \"example.com/lib\"\n\nfunc main() {}\n",
		"go.mod": managerMod + "\nrequire example.com/lib v0.0.0\n\n" +
			"replace sigs.k8s.io/controller-runtime => ./runtime\n\nreplace example.com/lib => ./lib\n",
		"runtime/go.mod": "module sigs.k8s.io/controller-runtime\n", "runtime/alias.go": "package controllerruntime\n\nfunc NewManager() {}\n",
		"lib/go.mod": "module example.com/lib\n\nrequire sigs.k8s.io/controller-runtime v0.25.2\n",
		"lib/lib.go": "package lib\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\nfunc Run() { ctrl.NewManager() }\n",
	})
	require.Equal(t, "dependencies that run client-go's informers:\nlib/lib.go:5: example.com/lib v0.0.0: a cache of controller-runtime\n"+
		"the program does not run client-go's informers\n", p.migrate(0, "-check", "./..."))
}
