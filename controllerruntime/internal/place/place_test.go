package place

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// program calls a library's function as programs do, and compares the places of its results.
var program = map[string]string{
	"go.mod":         "module example.com/program\n\ngo 1.26.0\n\nrequire example.com/library v1.0.0\n\nreplace example.com/library => ./library\n",
	"library/go.mod": "module example.com/library\n\ngo 1.26.0\n",
	"library/library.go": `package library

import "fmt"

func Strip() func(any) (any, error) {
	return func(in any) (any, error) {
		if s, err := fmt.Sprint(in), error(nil); err == nil && s == "" {
			fmt.Println(s)
		}
		return in, nil
	}
}

func Other() func(any) (any, error) {
	return func(in any) (any, error) {
		if s, err := fmt.Sprint(in), error(nil); err == nil && s == "" {
			fmt.Println(s)
		}
		return in, nil
	}
}

//go:noinline
func Kept() func(any) (any, error) { return Strip() }
`,
	"main.go": `package main

import (
	"os"

	"example.com/library"
	"example.com/program/place"
)

var known = place.Of(library.Strip())

func inlined() func(any) (any, error) { return library.Strip() }

func main() {
	strip := library.Strip()
	calls := func(in any) (any, error) { return strip(in) }
	callsInlined := func(in any) (any, error) { return library.Strip()(in) }
	for n, f := range []func(any) (any, error){strip, inlined(), library.Kept(), library.Strip()} {
		if place.Of(f) != known {
			os.Exit(10 + n)
		}
	}
	for n, f := range []func(any) (any, error){library.Other(), calls, callsInlined, func(in any) (any, error) { return in, nil }, nil} {
		if place.Of(f) == known {
			os.Exit(20 + n)
		}
	}
}
`,
}

// The place of a function is the same wherever the compiler copies it, and a function that calls it has another.
func TestPlacesInAllBuilds(t *testing.T) {
	own, err := os.ReadFile("place.go")
	require.NoError(t, err)
	for name, flags := range map[string][]string{
		"inlined": nil, "not inlined": {"-gcflags=all=-l"}, "not optimised": {"-gcflags=all=-N -l"}, "some inlined": {"-gcflags=-l"},
		"trimmed": {"-trimpath"}, "vendored": {"-mod=vendor"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(file, text string) {
				file = filepath.Join(dir, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			}
			for file, text := range program {
				write(file, text)
			}
			write("place/place.go", string(own))
			run := func(args ...string) {
				cmd := exec.CommandContext(t.Context(), "go", args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "go %v\n%s", args, out)
			}
			if name == "vendored" {
				run("mod", "vendor")
			}
			run(append(append([]string{"run"}, flags...), ".")...)
		})
	}
}

func TestNoFunctionHasNoPlace(t *testing.T) {
	require.Empty(t, Of(nil))
	require.Empty(t, Of((func())(nil)))
	require.Empty(t, Of(3))
}
