package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"strings"
	"time"
)

// Flags are the flags of an example: those that all examples have, and its own, which it adds.
type Flags struct {
	*flag.FlagSet
	kubeconfig string        // a file; empty for $KUBECONFIG or ~/.kube/config
	context    string        // of the kubeconfig; empty for the current one
	demo       bool          // use the demo cluster
	limit      time.Duration // zero for none
}

// NewFlags returns the flags that the example has in common with the others.
func NewFlags(example string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(example, flag.ContinueOnError)}
	f.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file`")
	f.StringVar(&f.context, "context", "", "`name` of the kubeconfig's context to use; default: its current one")
	f.BoolVar(&f.demo, "demo", false, "use a demo cluster: an API server in this process")
	f.Span(&f.limit, 0, "for", "stop after this `duration`, such as 10s; default: at Ctrl-C")
	return f
}

// Span adds a flag for a duration, which is zero or at least the least.
func (f *Flags) Span(d *time.Duration, least time.Duration, name, usage string) {
	f.Func(name, usage, func(s string) (err error) {
		*d, err = time.ParseDuration(s)
		switch {
		case err != nil:
			return err
		case *d < 0:
			return errors.New("it is negative")
		case *d > 0 && *d < least:
			return fmt.Errorf("it is less than %v", least)
		}
		return nil
	})
}

// Parse parses the flags. After -h it returns flag.ErrHelp.
func (f *Flags) Parse(args []string) error {
	f.SetOutput(io.Discard) // the caller prints errors, and Exit the usage
	err := f.FlagSet.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case err == nil && f.demo && f.kubeconfig != "":
		err = errors.New("--demo and --kubeconfig exclude each other")
	case err == nil && f.demo && f.context != "":
		err = errors.New("--demo and --context exclude each other")
	}
	if err != nil {
		return f.Misused(err)
	}
	return nil
}

// Misused adds to an error about a flag where the flags are explained.
func (f *Flags) Misused(err error) error {
	return fmt.Errorf("%w; %s -h lists the flags", err, f.Name())
}

// Exit prints the usage after flag.ErrHelp, and any other error as one line. It returns the exit
// code.
func (f *Flags) Exit(err error, stdout, stderr io.Writer) int {
	switch {
	case errors.Is(err, flag.ErrHelp):
		log.New(stdout, "", 0).Printf(`Usage: %s [flags]

It uses the first of these clusters: a demo cluster, with --demo; that of the
file given with --kubeconfig; that of $KUBECONFIG; that of ~/.kube/config; in a
pod, that of its service account; the demo cluster.

Flags:`, f.Name())
		f.SetOutput(stdout)
		f.PrintDefaults()
	case err != nil:
		log.New(stderr, f.Name()+": ", 0).Print(OneLine(err))
		return 1
	}
	return 0
}

// OneLine returns the text of an error with its lines joined.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// limited returns a context that ends when the time of --for is up.
func (f *Flags) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, f.limit)
}

// IsTerminal reports whether an output is a terminal, on which a line can be changed.
func IsTerminal(out io.Writer) bool {
	file, ok := out.(interface{ Stat() (fs.FileInfo, error) })
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
