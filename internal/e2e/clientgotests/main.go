package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const clientgo = "k8s.io/client-go/"

// folders are the packages of client-go whose tests run, and the packages of this module that replace
// them.
var folders = []folder{
	{"tools/cache", "github.com/tidemark-k8s/tidemark/informer/cache"},
	{"dynamic/dynamicinformer", "github.com/tidemark-k8s/tidemark/factory/dynamicinformer"},
	{"metadata/metadatainformer", "github.com/tidemark-k8s/tidemark/factory/metadatainformer"},
	{"listers/extensions/v1beta1", "k8s.io/client-go/listers/extensions/v1beta1"}, // over our stores
}

// folder is the path of a package in client-go, and the import path of our replacement.
type folder struct{ path, ours string }

// target is the library that the tests run on: this module or client-go.
type target string

const (
	tidemark target = "tidemark"
	control  target = "control"
)

// place returns the import path that replaces client-go's import path in a target's tests.
func (t target) place(path string) string {
	for _, f := range folders {
		if t == tidemark && path == clientgo+f.path {
			return f.ours
		}
	}
	return path
}

func main() {
	only := flag.String("run", "", "run only tests whose name contains this text, and compare nothing")
	leaveOut := flag.Bool("leaveout", false, "do not report test files that do not compile, because a pre-release may import modules that cannot be downloaded")
	flag.Parse()
	problems, err := runAll(*only, *leaveOut)
	if err != nil {
		fmt.Fprintln(os.Stderr, "clientgotests:", err)
		os.Exit(2)
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

func runAll(only string, leaveOut bool) (problems []string, err error) {
	work, err := os.MkdirTemp("", "clientgotests")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	failed := make(map[string]string)
	for _, f := range folders {
		s, err := load(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		for name, why := range s.broken {
			fmt.Printf("%s: %s is left out: %s\n", f.path, name, why)
			if !leaveOut {
				problems = append(problems, f.path+"/"+name+" does not compile: "+why)
			}
		}
		if len(s.files) == 0 {
			continue
		}
		for _, t := range []target{control, tidemark} {
			got, err := runOn(s, t, filepath.Join(work, string(t)), only)
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", f.path, t, err)
			}
			if t == control {
				s.leaveOut(got.units)
				fmt.Printf("%s: of %d tests, %d need what is not exported\n", f.path, s.tests(all), s.tests(all)-s.tests(fromOutside))
				problems = append(problems, controlProblems(f, got)...)
				continue
			}
			fmt.Printf("%s: %d tests pass here; what fails: %d, what does not compile: %d\n", f.path, got.passed, len(got.failed), len(got.broken))
			for name, why := range got.all() {
				failed[f.path+"."+name] = why
			}
		}
	}
	if only == "" {
		return append(problems, compare(failed, exceptions, races)...), nil
	}
	for name, why := range failed {
		problems = append(problems, name+"\n"+indent(why))
	}
	return problems, nil
}

func controlProblems(f folder, o outcome) (problems []string) {
	for name, why := range o.failed {
		problems = append(problems, fmt.Sprintf("%s.%s fails on client-go itself:\n%s", f.path, name, indent(why)))
	}
	return problems
}

// compare reports unlisted tests that failed, and listed tests that did not fail. The tests in races may
// fail or pass.
func compare(failed, listed, races map[string]string) (problems []string) {
	for name, why := range failed {
		if listed[name] == "" && races[name] == "" {
			problems = append(problems, name+" fails, and is no exception:\n"+indent(why))
		}
	}
	for name := range listed {
		if _, ok := failed[name]; !ok {
			problems = append(problems, name+" is listed as an exception, but does not fail")
		}
	}
	slices.Sort(problems)
	return problems
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t")
}
