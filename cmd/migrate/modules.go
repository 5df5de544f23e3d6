package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// move adds tidemark to the modules of changed files. It returns each module's new go.mod and go.sum, and
// does not write them. tidemark is a version, or a folder with the source.
func move(ctx context.Context, out io.Writer, tidemark string, files []file) (moved []file, err error) {
	modules := make(map[string]bool)
	for _, f := range files {
		modules[moduleOf(filepath.Dir(f.name))] = true
	}
	sorted := slices.Sorted(maps.Keys(modules))
	if err := immovable(ctx, sorted); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "migrate")
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(temp)) }()
	overlay, err := overlayOf(files, temp)
	if err != nil {
		return nil, err
	}
	for i, dir := range sorted {
		g := gomod{ctx: ctx, out: out, dir: dir, copied: filepath.Join(temp, fmt.Sprint(i)), overlay: overlay}
		of, err := g.move(tidemark, needed(dir, files))
		if err != nil {
			return nil, err
		}
		moved = append(moved, of...)
	}
	return moved, nil
}

// needed returns the modules of tidemark that the files of a module import.
func needed(dir string, files []file) []string {
	for _, f := range files {
		if moduleOf(filepath.Dir(f.name)) == dir && bytes.Contains(f.text, []byte(`"`+ourControllerRuntime+`"`)) {
			return append([]string{module}, nested...)
		}
	}
	return []string{module}
}

// immovable returns the reasons why modules cannot be changed.
func immovable(ctx context.Context, modules []string) error {
	work, err := command(ctx, modules[0], "env", "GOWORK").Output()
	if err != nil {
		return err
	}
	var reasons []error
	if work := strings.TrimSpace(string(work)); work != "" && work != "off" {
		reasons = append(reasons, fmt.Errorf("%s: %w", work, errWorkspace))
	}
	for _, dir := range modules {
		if vendor := filepath.Join(dir, "vendor"); exists(vendor) {
			reasons = append(reasons, fmt.Errorf("%s: %w", vendor, errVendor))
		}
		f, err := parseMod(filepath.Join(dir, "go.mod"))
		if err != nil {
			return err
		}
		for _, path := range required {
			if replaces(f, path) {
				reasons = append(reasons, fmt.Errorf("%s: %s: %w", f.Syntax.Name, path, errReplaced))
			}
		}
	}
	return errors.Join(reasons...)
}

// overlayOf writes a file that makes the go command read the new texts, and returns the file's name.
func overlayOf(files []file, temp string) (string, error) {
	var overlay struct{ Replace map[string]string }
	overlay.Replace = make(map[string]string)
	var copies []file
	for i, f := range files {
		name := filepath.Join(temp, fmt.Sprint(i, ".go"))
		copies, overlay.Replace[f.name] = append(copies, file{name, f.text}), name
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	name := filepath.Join(temp, "overlay.json")
	return name, writeFiles(append(copies, file{name, text}))
}

// gomod adds tidemark to copies of a module's go.mod and go.sum.
type gomod struct {
	ctx     context.Context
	out     io.Writer
	dir     string
	copied  string // the names of the copies, without .mod and .sum
	overlay string
}

// move returns the new go.mod and go.sum.
func (g gomod) move(tidemark string, needed []string) ([]file, error) {
	original := filepath.Join(g.dir, "go")
	before, err := parseMod(original + ".mod")
	if err != nil {
		return nil, err
	}
	copies, err := pair(original, g.copied)
	if err != nil {
		return nil, err
	}
	if err := writeFiles(copies); err != nil {
		return nil, err
	}
	if err := g.require(before, tidemark, needed); err != nil {
		return nil, err
	}
	if err := g.run("mod", "tidy"); err != nil {
		return nil, err
	}
	after, err := parseMod(g.copied + ".mod")
	if err != nil {
		return nil, err
	}
	now := versions(after)
	for _, path := range needed {
		if now[path] == "" {
			return nil, fmt.Errorf("%s: %w", path, errDropped)
		}
	}
	reportVersions(g.out, versions(before), now)
	return pair(g.copied, original)
}

// pair reads a go.mod and, if it exists, its go.sum, and returns them under new names. The arguments lack the
// suffix.
func pair(from, to string) (files []file, err error) {
	for _, ending := range []string{".mod", ".sum"} {
		text, err := os.ReadFile(from + ending)
		switch {
		case err == nil:
			files = append(files, file{to + ending, text})
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return files, nil
}

// require adds tidemark's modules. If go.mod replaces a module, go mod tidy adds it.
func (g gomod) require(before *modfile.File, tidemark string, needed []string) error {
	needed = slices.DeleteFunc(slices.Clone(needed), func(path string) bool { return replaces(before, path) })
	if len(needed) == 0 {
		return nil
	}
	folder, err := folderOf(before, tidemark)
	if err != nil {
		return err
	}
	if folder != "" {
		args := []string{"mod", "edit"}
		for _, path := range needed {
			args = append(args, "-replace="+path+"="+folder+strings.TrimPrefix(path, module), "-require="+path+"@v0.0.0")
		}
		return g.run(args...)
	}
	args := []string{"get"}
	for _, path := range needed {
		args = append(args, path+"@"+tidemark)
	}
	return g.run(args...)
}

// folderOf returns the folder with tidemark's source, or "" if tidemark is a version. If go.mod replaces
// tidemark by a folder, its other modules are in that folder, too.
func folderOf(before *modfile.File, tidemark string) (string, error) {
	for _, r := range before.Replace {
		if r.Old.Path == module && r.New.Version == "" {
			return r.New.Path, nil
		}
	}
	if info, err := os.Stat(tidemark); err != nil || !info.IsDir() {
		return "", nil
	}
	return filepath.Abs(tidemark)
}

func (g gomod) run(args ...string) error {
	fmt.Fprintln(g.out, "go", strings.Join(args, " "))
	c := command(g.ctx, g.dir, args...)
	c.Env = append(c.Environ(), fmt.Sprintf("GOFLAGS=%s '-modfile=%s.mod' '-overlay=%s'", os.Getenv("GOFLAGS"), g.copied, g.overlay))
	if output, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return nil
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = dir
	return c
}

func parseMod(name string) (*modfile.File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

func replaces(f *modfile.File, path string) bool {
	return slices.ContainsFunc(f.Replace, func(r *modfile.Replace) bool { return r.Old.Path == path })
}

// versions returns the versions of Go and of all modules in a go.mod.
func versions(f *modfile.File) map[string]string {
	all := make(map[string]string)
	if f.Go != nil {
		all["go"] = f.Go.Version
	}
	for _, r := range f.Require {
		all[r.Mod.Path] = r.Mod.Version
	}
	return all
}

// reportVersions prints the changed versions of Go and of Kubernetes' modules.
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
