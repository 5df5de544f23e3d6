package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// Each archive in testdata has a file, its new text, and the notes about the work left.
func TestRewrite(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			require.NoError(t, err)
			parts := make(map[string]string)
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			s, err := parse("in.go", []byte(parts["in.go"]))
			require.NoError(t, err)
			r, err := rewrite(s)
			require.NoError(t, err)
			require.Equal(t, parts["want.go"], string(r.text))
			require.Equal(t, parts["left"], lines(append(r.left, r.again...)))
			require.Equal(t, r.text == nil, len(r.changes) == 0)
			if r.text != nil {
				rewriteAgain(t, r)
			}
		})
	}
}

// rewriteAgain checks that a second run changes nothing.
func rewriteAgain(t *testing.T, r rewritten) {
	t.Helper()
	s, err := parse("in.go", r.text)
	require.NoError(t, err)
	again, err := rewrite(s)
	require.NoError(t, err)
	require.Nil(t, again.text, "%s", again.text)
}

// Imports that share a line are refused. gofmt separates them.
func TestOneLineImports(t *testing.T) {
	for imports, want := range map[string]error{`(ctrl "sigs.k8s.io/controller-runtime"; "fmt")`: errFormat, "(\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\t\"fmt\"\n)": nil} {
		s, err := parse("in.go", []byte("package p\n\nimport "+imports+"\n\nfunc f() { fmt.Println(ctrl.NewManager(config, ctrl.Options{})) }\n"))
		require.NoError(t, err)
		_, err = rewrite(s)
		require.ErrorIs(t, err, want)
	}
}

func lines(all []note) string {
	var text strings.Builder
	for _, n := range all {
		text.WriteString(n.String() + "\n")
	}
	return text.String()
}

func TestConstructorOf(t *testing.T) {
	c, ok := constructorOf("k8s.io/client-go/informers/core/v1", "NewTypedFilteredPodInformer")
	require.True(t, ok)
	require.Equal(t, constructor{api: "k8s.io/api/core/v1", kind: "Pod", typed: true, ours: "NewFilteredInformer"}, c)
	for path, function := range map[string]string{
		"k8s.io/client-go/informers/core/v1": "New",
		"k8s.io/client-go/informers/core":    "NewPodInformer",
		"example.com/informers/core/v1":      "NewPodInformer",
	} {
		_, ok := constructorOf(path, function)
		require.False(t, ok, path)
	}
}
