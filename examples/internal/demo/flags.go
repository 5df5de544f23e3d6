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

// Flags has the flags that all examples share. An example adds its own flags.
type Flags struct {
	*flag.FlagSet
	kubeconfig string        // a file; empty for $KUBECONFIG or ~/.kube/config
	context    string        // of the kubeconfig; empty for the current one
	demo       bool          // use the demo cluster
	limit      time.Duration // zero for none
}

// NewFlags returns the shared flags for an example.
func NewFlags(example string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(example, flag.ContinueOnError)}
	f.StringVar(&f.kubeconfig, "kubeconfig", "", "use the cluster of this kubeconfig `file`")
	f.StringVar(&f.context, "context", "", "use the kubeconfig's context of this `name`; default: the current context")
	f.BoolVar(&f.demo, "demo", false, "use a demo cluster: an API server in this process")
	f.Span(&f.limit, 0, "for", "stop after this `duration`, such as 10s; default: run until Ctrl-C")
	return f
}

// Span adds a flag for a duration that is zero or at least the minimum.
func (f *Flags) Span(d *time.Duration, minimum time.Duration, name, usage string) {
	f.Func(name, usage, func(s string) (err error) {
		*d, err = time.ParseDuration(s)
		switch {
		case err != nil:
			return err
		case *d < 0:
			return errors.New("must not be negative")
		case *d > 0 && *d < minimum:
			return fmt.Errorf("must be at least %v", minimum)
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
		err = errors.New("--demo cannot be combined with --kubeconfig")
	case err == nil && f.demo && f.context != "":
		err = errors.New("--demo cannot be combined with --context")
	}
	if err != nil {
		return f.Misused(err)
	}
	return nil
}

// Misused adds to an error about a flag how to list the flags.
func (f *Flags) Misused(err error) error {
	return fmt.Errorf("%w; %s -h lists the flags", err, f.Name())
}

// Exit prints the usage after flag.ErrHelp, and any other error on one line. It returns the exit code.
func (f *Flags) Exit(err error, stdout, stderr io.Writer) int {
	switch {
	case errors.Is(err, flag.ErrHelp):
		log.New(stdout, "", 0).Printf(`Usage: %s [flags]

It uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config, or the pod's
service account: the first that it finds. With --demo, or if it finds none, it
uses a demo cluster: an API server in this process.

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

// limited returns a context that also ends after the duration of --for.
func (f *Flags) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, f.limit)
}

// IsTerminal reports whether an output is a terminal that can redraw a line.
func IsTerminal(out io.Writer) bool {
	file, ok := out.(interface{ Stat() (fs.FileInfo, error) })
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
