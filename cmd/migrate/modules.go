package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// gomod adds tidemark to the modules of a program.
type gomod struct {
	ctx context.Context
	out io.Writer
	// tidemark is its version, or a folder with its source.
	tidemark string
}

// move adds tidemark to a module, tidies the module, and updates its vendor folder.
func (g gomod) move(dir string) error {
	before, err := requirements(dir)
	if err != nil {
		return err
	}
	vendored := exists(filepath.Join(dir, "vendor", "modules.txt"))
	if info, err := os.Stat(g.tidemark); err == nil && info.IsDir() {
		folder, err := filepath.Abs(g.tidemark)
		if err != nil {
			return err
		}
		err = g.run(dir, "mod", "edit", "-replace="+module+"="+folder, "-require="+module+"@v0.0.0")
		if err != nil {
			return err
		}
	} else if err := g.run(dir, "get", module+"@"+g.tidemark); err != nil {
		return err
	}
	if err := g.run(dir, "mod", "tidy"); err != nil {
		return err
	}
	if err := g.workspace(dir, vendored); err != nil {
		return err
	}
	after, err := requirements(dir)
	if err == nil {
		reportVersions(g.out, before, after)
	}
	return err
}

// workspace updates go.work, if there is one, and the vendor folder.
func (g gomod) workspace(dir string, vendored bool) error {
	out, err := g.command(dir, "env", "GOWORK").Output()
	if err != nil {
		return err
	}
	work := strings.TrimSpace(string(out))
	if work == "" || work == "off" {
		if vendored {
			return g.run(dir, "mod", "vendor")
		}
		return nil
	}
	if err := g.run(dir, "work", "use", dir); err != nil {
		return err
	}
	if exists(filepath.Join(filepath.Dir(work), "vendor", "modules.txt")) {
		return g.run(dir, "work", "vendor")
	}
	return nil
}

func (g gomod) run(dir string, args ...string) error {
	fmt.Fprintln(g.out, "go", strings.Join(args, " "))
	var output bytes.Buffer
	c := g.command(dir, args...)
	c.Stdout, c.Stderr = &output, &output
	if err := c.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output.Bytes())
	}
	return nil
}

func (g gomod) command(dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(g.ctx, "go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "PWD="+dir)
	if len(args) > 0 && (args[0] == "get" || args[0] == "mod") { // the vendor folder is out of date meanwhile
		c.Env = append(c.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"))
	}
	return c
}

// requirements returns the versions in a go.mod: of Go and of all modules.
func requirements(dir string) (map[string]string, error) {
	name := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := modfile.ParseLax(name, text, nil)
	if err != nil {
		return nil, err
	}
	versions := make(map[string]string)
	if f.Go != nil {
		versions["go"] = f.Go.Version
	}
	for _, r := range f.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions, nil
}

// reportVersions prints how the versions of Go and of Kubernetes' modules have changed.
func reportVersions(out io.Writer, before, after map[string]string) {
	var lines []string
	for path, version := range after {
		kubernetes := strings.HasPrefix(path, "k8s.io/") || strings.HasPrefix(path, "sigs.k8s.io/")
		if was := before[path]; was != "" && was != version && (path == "go" || kubernetes) {
			lines = append(lines, fmt.Sprintf("  %s %s -> %s", path, was, version))
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
