package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/internal/process"
)

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(runRole(role, os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	klog.SetLogger(klog.Logger{}) // errors repeat client-go's warnings
	o, err := parse(args)
	if err == nil {
		err = compare(ctx, o, stdin, stdout, stderr)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
		return 0
	case err == nil:
		return 0
	case ctx.Err() != nil:
		err = errInterrupted
	}
	fmt.Fprintln(stderr, "compare:", oneLine(err.Error()))
	switch {
	case errors.Is(err, errUsage), errors.Is(err, errNoTerminal):
		return 2
	case errors.Is(err, errDiffer):
		return 3
	}
	return 1
}

// The variable roleVariable tells a started process its role.
const (
	roleVariable = "TIDEMARK_COMPARE_ROLE"
	roleMeasured = "measured"
	roleDemo     = "demo"
)

// runRole runs a process that compare has started.
func runRole(role string, in io.Reader, out, stderr io.Writer) int {
	signal.Ignore(os.Interrupt) // a terminal sends it to all processes; the parent ends this one
	klog.SetLogger(klog.Logger{})
	var err error
	if role == roleDemo {
		err = serveDemo(context.Background(), in, out)
	} else {
		err = serveMeasured(context.Background(), in, out)
	}
	if err != nil {
		fmt.Fprintf(stderr, "compare, %s process: %v\n", role, err)
		return 1
	}
	return 0
}

// compare measures both libraries, and prints the result.
func compare(ctx context.Context, o options, stdin io.Reader, stdout, stderr io.Writer) error {
	if !process.Measured {
		return errUnmeasured
	}
	if !o.demo && !o.yes && !isTerminal(stdin) {
		return errNoTerminal
	}
	progress := newProgress(stderr)
	defer progress.end()
	target := target{Kubeconfig: o.kubeconfig, Context: o.context, Namespace: o.namespace}
	var demo *demo
	if o.demo {
		var err error
		if demo, err = startDemo(ctx); err != nil {
			return fmt.Errorf("--demo: %w", err)
		}
		defer demo.end()
		target.Host = demo.host
	}
	c, err := connect(target)
	if err != nil {
		return err
	}
	kinds, err := c.resolve(o.kinds)
	if err != nil {
		return err
	}
	if demo != nil {
		if err := demo.fill(kinds, o.demoPods, progress); err != nil {
			return fmt.Errorf("--demo: %w", err)
		}
	}
	found, err := c.survey(ctx, kinds)
	if err != nil {
		return err
	}
	progress.end()
	fmt.Fprint(stderr, found.announcement(o))
	if len(found.Kinds) == 0 {
		return errNothingLeft
	}
	if !o.demo && !o.yes {
		if err := ask(ctx, stdin, stderr); err != nil {
			return err
		}
	}
	m := measuring{server: c, found: found, demo: demo, events: o.events, progress: progress}
	raw, err := m.run(ctx)
	progress.end()
	if err != nil {
		return err
	}
	r := summarize(found, raw)
	r.About = about()
	if err := o.output.print(stdout, r); err != nil {
		return err
	}
	if len(r.Differences) > 0 {
		return errDiffer
	}
	return nil
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
