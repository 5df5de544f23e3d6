package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

const (
	mainFile = `package main

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

func main() {
	f := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	stop := make(chan struct{})
	defer close(stop)
	f.Start(stop)
	cache.WaitForCacheSync(stop, f.Core().V1().Pods().Informer().HasSynced)
}
`
	taggedFile = `//go:build never

package main

import "k8s.io/client-go/tools/cache"

var store = cache.NewStore
`
	goMod = `module example.com/program

go 1.25.0

require k8s.io/client-go v0.36.6
`
)

// written is a program in its own folder.
type written struct {
	t   *testing.T
	dir string
}

func write(t *testing.T, files map[string]string) written {
	p := written{t, t.TempDir()}
	for name, text := range files {
		name = filepath.Join(p.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return p
}

func (p written) read(name string) string {
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(p.t, err)
	return string(text)
}

// goes runs the go command with arguments.
func (p written) goes(args ...string) {
	c := exec.CommandContext(p.t.Context(), "go", args...)
	c.Dir = p.dir
	out, err := c.CombinedOutput()
	require.NoError(p.t, err, "%v: %s", args, out)
}

// migrate runs migrate with this checkout of tidemark, and returns its output.
func (p written) migrate(code int, args ...string) string {
	here, err := filepath.Abs("../..")
	require.NoError(p.t, err)
	var out bytes.Buffer
	require.Equal(p.t, code, run(context.Background(), p.dir, append([]string{"-tidemark", here}, args...), &out, &out), "%s", &out)
	return out.String()
}

// Migrate shows the changes of a program, checks it, and changes it. A second run changes nothing.
func TestProgram(t *testing.T) {
	p := write(t, map[string]string{"main.go": mainFile, "tagged.go": taggedFile, "go.mod": goMod})
	p.goes("mod", "tidy")

	diff := p.migrate(0, "-diff", "./...")
	require.Contains(t, diff, "--- a/main.go\n+++ b/main.go\n")
	require.Contains(t, diff, `+	"github.com/tidemark-k8s/tidemark/factory/informers"`)
	require.Equal(t, mainFile, p.read("main.go"))

	output := p.migrate(1, "-check", "./...")
	require.Contains(t, output, "the program runs client-go's informers:\nmain.go:10: k8s.io/client-go/informers.NewSharedInformerFactory\n"+
		"tagged.go:7: k8s.io/client-go/tools/cache.NewStore\n")

	output = p.migrate(0)
	require.Contains(t, output, "main.go:4: k8s.io/client-go/informers -> github.com/tidemark-k8s/tidemark/factory/informers\n")
	require.Contains(t, output, "tagged.go:5: k8s.io/client-go/tools/cache -> github.com/tidemark-k8s/tidemark/informer/cache\n")
	require.Contains(t, output, "  k8s.io/client-go v0.36.6 -> v0.37.2\n")
	p.goes("build", "-o", os.DevNull, "./...")

	require.Contains(t, p.migrate(0, "-check", "./..."), "the program does not run client-go's informers\n")
	require.Equal(t, "nothing to change\n", p.migrate(0, "./..."))
}

// Each archive in testdata/programs has a program, the arguments of migrate, and its output. The program must
// stay unchanged.
func TestUnchanged(t *testing.T) {
	names, err := filepath.Glob("testdata/programs/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Setenv("GOPROXY", "off")
			archive, err := txtar.ParseFile(name)
			require.NoError(t, err)
			files := make(map[string]string)
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			args, want := strings.Fields(files["args"]), files["output"]
			delete(files, "args")
			delete(files, "output")
			code := 0
			if strings.HasPrefix(want, "migrate: ") {
				code = 2
			}
			p := write(t, files)

			output := strings.ReplaceAll(p.migrate(code, args...), p.dir, "DIR")

			require.Equal(t, want, output)
			for name, text := range files {
				require.Equal(t, text, p.read(name), name)
			}
		})
	}
}

// The commands that migrate recommends for a workspace lead to a program that builds.
func TestWorkspace(t *testing.T) {
	p := write(t, map[string]string{"program/main.go": mainFile, "program/go.mod": goMod, "go.work": "go 1.25.0\n\nuse ./program\n"})
	in := written{t, filepath.Join(p.dir, "program")}
	in.goes("mod", "tidy")
	p.goes("work", "use", "program")
	require.Contains(t, in.migrate(2), "go.work: a workspace chooses the versions for all its modules: set GOWORK=off, ")

	t.Setenv("GOWORK", "off")
	in.migrate(0)
	t.Setenv("GOWORK", "")
	p.goes("work", "use")
	p.goes("list", "-deps", "./program/...") // building would compile all of client-go
}

const (
	managerFile = "package main\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\nfunc main() {\n\tctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})\n}\n"
	managerMod  = "module example.com/program\n\ngo 1.26.0\n\nrequire sigs.k8s.io/controller-runtime v0.25.2\n"
)

// A program with a manager also gets the module controllerruntime.
func TestManager(t *testing.T) {
	p := write(t, map[string]string{"main.go": managerFile, "go.mod": managerMod})
	p.goes("mod", "tidy")
	output := p.migrate(0)
	require.Contains(t, output, "main.go:6: ctrl.NewManager -> controllerruntime.NewManager\n")
	require.True(t, strings.HasSuffix(output, "\nnothing is left for you\n"), output)
	require.Contains(t, p.read("go.mod"), "tidemark/controllerruntime v0.0.0\n")
	p.goes("list", "-deps", "./...") // building would compile all of controller-runtime
	require.Equal(t, "the program does not run client-go's informers\n", p.migrate(0, "-check", "./..."))
	require.Equal(t, "nothing to change\n", p.migrate(0, "./..."))
}

// If go.mod cannot be tidied, nothing is changed, and a second run reports the same.
func TestUntidy(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	missing := strings.Replace(mainFile, "import (", "import (\n\t_ \"example.com/missing\"", 1)
	p := write(t, map[string]string{"main.go": missing, "go.mod": goMod})
	for range 2 {
		require.Contains(t, p.migrate(2), "migrate: nothing was changed: go mod tidy: exit status 1\n")
		require.Equal(t, missing, p.read("main.go"))
		require.Equal(t, goMod, p.read("go.mod"))
	}
}

// go mod tidy does not read files with the build tag ignore. If no other file imports tidemark, nothing is
// changed. With the tag that migrate recommends, the file resolves.
func TestIgnoredTool(t *testing.T) {
	p := write(t, map[string]string{
		"main.go": "package main\n\nimport _ \"k8s.io/client-go/kubernetes\"\n\nfunc main() {}\n",
		"tool.go": strings.Replace(mainFile, "package main", "//go:build ignore\n\npackage main", 1), "go.mod": goMod,
	})
	p.goes("mod", "tidy")
	require.Contains(t, p.migrate(2), "migrate: nothing was changed: github.com/tidemark-k8s/tidemark: go mod tidy removes it again, ")

	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "tool.go"), []byte(strings.Replace(p.read("tool.go"), "ignore", "tools", 1)), 0o600))
	p.migrate(0)
	p.goes("list", "-deps", "tool.go")
}

// If go.mod replaces tidemark by a folder, migrate does not request a version of it, and takes its other modules
// from that folder.
func TestReplaced(t *testing.T) {
	here, err := filepath.Abs("../..")
	require.NoError(t, err)
	for name, c := range map[string]struct{ main, mod, want string }{
		"informers": {mainFile, goMod, "tidemark => " + here + "\n"},
		"a manager": {managerFile, managerMod, "tidemark/controllerruntime => " + here + "/controllerruntime\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := write(t, map[string]string{"main.go": c.main, "go.mod": c.mod + "\nreplace github.com/tidemark-k8s/tidemark => " + here + "\n"})
			p.goes("mod", "tidy")
			var out bytes.Buffer
			require.Zero(t, run(t.Context(), p.dir, nil, &out, &out), "%s", &out)
			require.Contains(t, p.read("go.mod"), c.want)
			p.goes("list", "-deps", "./...")
		})
	}
}

// The pattern may be a file. The file's module also changes.
func TestFiles(t *testing.T) {
	p := write(t, map[string]string{"main.go": mainFile, "go.mod": goMod})
	p.goes("mod", "tidy")
	p.migrate(0, "main.go")
	p.goes("list", "-deps", "./...")
}

// Packages whose files all have other build tags belong to the program, even if a module has only such
// packages. Files that the go command never reads, and other modules, do not belong to it.
func TestOtherBuildTags(t *testing.T) {
	files := map[string]string{
		"main.go": "package main\n\nfunc main() {}\n", "go.mod": "module example.com/program\n",
		"e2e/e2e_test.go": taggedFile, "os/of_windows.go": taggedFile, "alone/go.mod": "module example.com/alone\n", "alone/e2e/main.go": taggedFile,
		"testdata/x.go": taggedFile, "lib/vendor/x/x.go": taggedFile, ".hidden/x.go": taggedFile, "_x/x.go": taggedFile, "_x.go": taggedFile,
	}
	p := write(t, files)
	output := p.migrate(1, "-check", "./...")
	require.Equal(t, "the program runs client-go's informers:\nos/of_windows.go:7: k8s.io/client-go/tools/cache.NewStore\n"+
		"migrate: the program still runs client-go's informers in 1 places\n", output)
	require.Contains(t, p.migrate(0, "-diff", "./..."), "b/e2e/e2e_test.go")
	alone := written{t, filepath.Join(p.dir, "alone")}
	s, err := load(t.Context(), alone.dir, []string{"./..."})
	require.NoError(t, err)
	require.Len(t, s.sources, 1)
}

// The working folder may be a symbolic link.
func TestLinkedFolder(t *testing.T) {
	p := write(t, map[string]string{"main.go": mainFile, "go.mod": goMod, "os/of_windows.go": taggedFile})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(p.dir, link))
	t.Chdir(link)
	for _, dir := range []string{".", link} {
		require.Contains(t, written{t, dir}.migrate(1, "-check", "./..."), "main.go:10: k8s.io/client-go/informers.NewSharedInformerFactory\n"+
			"os/of_windows.go:7: k8s.io/client-go/tools/cache.NewStore\nmigrate: the program still runs client-go's informers in 2 places\n")
	}
}

func TestVersions(t *testing.T) {
	var out bytes.Buffer
	before := map[string]string{"go": "1.25.0", "k8s.io/api": "v0.36.0", "k8s.io/utils": "v1", "example.com/a": "v1"}
	reportVersions(&out, before, map[string]string{"go": "1.26.0", "k8s.io/api": "v0.37.0", "k8s.io/utils": "v1", "example.com/a": "v2", "k8s.io/klog": "v2"})
	require.Equal(t, "  go 1.25.0 -> 1.26.0\n  k8s.io/api v0.36.0 -> v0.37.0\n", out.String())
}

// The work left for a person is listed before the generated files.
func TestGeneratedFilesComeLast(t *testing.T) {
	p := write(t, map[string]string{
		"a.go": "// Code generated by informer-gen. DO NOT EDIT.\n\n" + taggedFile,
		"b.go": "package main\n\nimport watchtools \"k8s.io/client-go/tools/watch\"\n\nvar until = watchtools.UntilWithSync\n", "go.mod": "module example.com/program\n",
	})
	require.Regexp(t, `\ngo.mod and go.sum also change, but are not shown\nleft for you:\nb.go:5: watchtools.UntilWithSync runs .*\na.go:7: the file is generated: `, p.migrate(0, "-diff"))
	require.Contains(t, p.migrate(1, "-check"), "b.go:5: k8s.io/client-go/tools/watch.UntilWithSync\n")
}

// Files that cannot be read, unknown flags and patterns without a match are reported.
func TestBadInput(t *testing.T) {
	p := write(t, map[string]string{"main.go": "package main\n", "broken.go": "package main\nfunc {\n", "go.mod": "module example.com/program\n"})
	output := p.migrate(0, "./...")
	require.Contains(t, output, "nothing to change\nleft for you:\nbroken.go:1: cannot be read: ")
	require.Contains(t, p.migrate(2, "-check", "./..."), "these files may also run them:\nbroken.go:1: cannot be read: ")
	require.Contains(t, p.migrate(2, "./none"), "migrate: the patterns match no Go files: ./none: ")
	require.Contains(t, p.migrate(2, "-check", ".", "./none"), "migrate: the patterns match no Go files: ./none: ")
	require.Contains(t, p.migrate(2, ".", "example.com/none"), "migrate: the patterns match no Go files: example.com/none: ")
	require.Contains(t, p.migrate(2, "./none/..."), "migrate: the patterns match no Go files: ./none/...: ")
	require.Contains(t, p.migrate(2, "-unknown"), "-unknown")
	require.Contains(t, p.migrate(0, "-h"), "Usage: migrate [flags] packages\n")
}
