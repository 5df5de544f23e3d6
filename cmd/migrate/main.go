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
	"slices"

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
	f.StringVar(&m.tidemark, "tidemark", "latest", "require this `version` of tidemark, or use a folder with its source")
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
	all := make([]rewritten, len(p.sources))
	for i, s := range p.sources {
		if all[i], err = rewrite(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	changes := slices.ContainsFunc(all, rewritten.changed)
	switch {
	case !changes:
		fmt.Fprintln(m.out, "nothing to change")
	case m.diff:
		err = m.show(p.sources, all)
	default:
		err = m.change(ctx, p, all)
	}
	if err != nil {
		return err
	}
	var left, again []note
	for _, r := range all {
		left, again = append(left, r.left...), append(again, r.again...)
	}
	left = slices.Concat(left, p.unread, again)
	m.list("left for you:", left)
	if changes && len(left) == 0 {
		fmt.Fprintln(m.out, "nothing is left for you")
	}
	return nil
}

// change changes the program. It writes files only after everything else has succeeded. It writes go.mod
// first: if another file then cannot be written, a second run continues.
func (m *migration) change(ctx context.Context, p *program, all []rewritten) error {
	var files []file
	for i, r := range all {
		if r.changed() {
			files = append(files, file{p.sources[i].name, r.text})
		}
	}
	moved, err := move(ctx, m.out, m.tidemark, files)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnchanged, err)
	}
	for _, r := range all {
		m.list("", r.changes)
	}
	return writeFiles(append(moved, files...))
}

// show shows the changes.
func (m *migration) show(sources []*source, all []rewritten) error {
	for i, r := range all {
		if !r.changed() {
			continue
		}
		name := m.relative(sources[i].name)
		err := difflib.WriteUnifiedDiff(m.out, difflib.UnifiedDiff{
			A: difflib.SplitLines(string(sources[i].text)), B: difflib.SplitLines(string(r.text)),
			FromFile: "a/" + name, ToFile: "b/" + name, Context: 2,
		})
		if err != nil {
			return err
		}
	}
	fmt.Fprintln(m.out, "go.mod and go.sum also change, but are not shown")
	return nil
}

func (m *migration) checked(p *program) error {
	own, dependencies := check(p)
	m.list("dependencies that run client-go's informers:", dependencies)
	m.list("the program runs client-go's informers:", own)
	m.list("these files may also run them:", p.unread)
	switch {
	case len(own) > 0:
		return fmt.Errorf("%w in %d places", errStillThere, len(own))
	case len(p.unread) > 0:
		return errUnread
	}
	fmt.Fprintln(m.out, "the program does not run client-go's informers")
	return nil
}

// list prints notes under a title.
func (m *migration) list(title string, notes []note) {
	if title != "" && len(notes) > 0 {
		fmt.Fprintln(m.out, title)
	}
	for _, n := range notes {
		n.file = m.relative(n.file)
		fmt.Fprintln(m.out, n)
	}
}

// relative returns the name of a file relative to the folder in which the program runs.
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
