package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/pmezard/go-difflib/difflib"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program in a folder, and returns its exit code.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	m := migration{dir: dir, out: stdout}
	f := flag.NewFlagSet("migrate", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&m.diff, "diff", false, "show the changes without making them")
	f.BoolVar(&m.check, "check", false, "change nothing, list the uses of client-go's informers, and exit with 1 if the program itself has any")
	f.StringVar(&m.tidemark, "tidemark", "latest", "the `version` of tidemark to require, or a folder with its source")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: migrate [flags] packages")
		f.PrintDefaults()
	}
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	m.patterns = f.Args()
	if len(m.patterns) == 0 {
		m.patterns = []string{"./..."}
	}
	switch err := m.run(ctx); {
	case errors.Is(err, errStillThere):
		fmt.Fprintln(stderr, "migrate:", err)
		return 1
	case err != nil:
		fmt.Fprintln(stderr, "migrate:", err)
		return 2
	}
	return 0
}

// migration is one run of the program.
type migration struct {
	dir         string
	patterns    []string
	diff, check bool
	tidemark    string
	out         io.Writer
}

func (m *migration) run(ctx context.Context) error {
	p, err := load(ctx, m.dir, m.patterns)
	if err != nil {
		return err
	}
	if m.check {
		return m.checked(p)
	}
	left, changed, err := m.files(p.sources)
	if err != nil {
		return err
	}
	if changed && !m.diff {
		for _, dir := range p.modules {
			g := gomod{ctx: ctx, out: m.out, tidemark: m.tidemark}
			if err := g.move(dir); err != nil {
				return fmt.Errorf("the files are changed, but the module in %s is not: %w", dir, err)
			}
		}
	}
	if !changed {
		fmt.Fprintln(m.out, "nothing to change")
	}
	m.list("left for you:", append(left, p.unread...))
	return nil
}

// files rewrites files, or shows the changes. It writes no file before all are rewritten.
func (m *migration) files(sources []*source) (left []note, changed bool, err error) {
	all := make([]rewritten, len(sources))
	for i, s := range sources {
		if all[i], err = rewrite(s); err != nil {
			return nil, false, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for i, r := range all {
		left = append(left, r.left...)
		if r.text == nil {
			continue
		}
		changed = true
		if m.diff {
			err = m.show(sources[i], r.text)
		} else {
			m.list("", r.changes)
			err = replaceFile(sources[i].name, r.text)
		}
		if err != nil {
			return nil, changed, err
		}
	}
	return left, changed, nil
}

// replaceFile replaces the text of a file, and keeps its mode.
func replaceFile(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, info.Mode().Perm())
}

func (m *migration) show(s *source, text []byte) error {
	name := m.relative(s.name)
	return difflib.WriteUnifiedDiff(m.out, difflib.UnifiedDiff{
		A: difflib.SplitLines(string(s.text)), B: difflib.SplitLines(string(text)),
		FromFile: "a/" + name, ToFile: "b/" + name, Context: 2,
	})
}

func (m *migration) checked(p *program) error {
	own, dependencies := check(p)
	m.list("dependencies that run client-go's informers:", dependencies)
	m.list("the program runs client-go's informers:", own)
	m.list("these files may run them, too:", p.unread)
	switch {
	case len(own) > 0:
		return fmt.Errorf("%w in %d places", errStillThere, len(own))
	case len(p.unread) > 0:
		return errUnread
	}
	fmt.Fprintln(m.out, "the program does not run client-go's informers")
	return nil
}

// list prints notes below a title.
func (m *migration) list(title string, notes []note) {
	if title != "" && len(notes) > 0 {
		fmt.Fprintln(m.out, title)
	}
	for _, n := range notes {
		n.file = m.relative(n.file)
		fmt.Fprintln(m.out, n)
	}
}

// relative returns the name of a file relative to the folder of the run.
func (m *migration) relative(name string) string {
	dir, err := filepath.Abs(m.dir)
	if err != nil {
		return name
	}
	if short, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(short) {
		return filepath.ToSlash(short)
	}
	return name
}
