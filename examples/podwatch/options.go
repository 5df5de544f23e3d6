package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// options are the values of the flags.
type options struct {
	kubeconfig string        // empty for $KUBECONFIG or ~/.kube/config
	context    string        // of the kubeconfig; empty for the current one
	namespace  string        // empty for all
	labels     string        // a selector; empty for all
	fields     string        // a selector; empty for all
	format     format        // of the events
	resync     time.Duration // zero for none
	limitedTo  time.Duration // zero for no limit
	record     string        // a file; empty for none
	debug      string        // an address; empty for none
	demo       bool
}

// parse parses the flags. Its errors name the invalid flag; after -h it returns flag.ErrHelp.
func parse(args []string) (options, error) {
	var o options
	f := o.flags()
	f.SetOutput(io.Discard) // errors are returned, and -h prints the usage
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case err == nil && o.demo && o.kubeconfig != "":
		err = errors.New("--demo and --kubeconfig exclude each other")
	case err == nil && o.demo && o.context != "":
		err = errors.New("--demo and --context exclude each other")
	case err == nil && o.demo && o.record != "":
		err = errors.New("--demo and --record exclude each other")
	}
	if err != nil {
		return o, fmt.Errorf("%w; podwatch -h lists the flags", err)
	}
	return o, nil
}

// usage prints the usage.
func usage(w io.Writer) {
	out := log.New(w, "", 0)
	out.Print(`podwatch prints the changes of a cluster's pods.

Usage: podwatch [flags]

It uses the first of these clusters: a demo cluster, with --demo; that of the
file given with --kubeconfig; that of $KUBECONFIG; that of ~/.kube/config; in a
pod, that of its service account; the demo cluster.

Flags:`)
	f := new(options).flags()
	f.SetOutput(w)
	f.PrintDefaults()
}

// flags returns a flag set that fills o.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("podwatch", flag.ContinueOnError)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`")
	f.StringVar(&o.context, "context", "", "`name` of the kubeconfig's context to use; default: its current one")
	f.BoolVar(&o.demo, "demo", false, "watch a demo cluster: an API server in this process")
	f.Func("namespace", "watch the pods of this `namespace` only", func(s string) error {
		o.namespace = s
		return validNamespace(s)
	})
	f.Func("selector", "watch pods with these `labels` only, such as app=web,track!=retiring", func(s string) error {
		o.labels = s
		_, err := labels.Parse(s)
		return err
	})
	f.Func("field-selector", "watch pods with these `fields` only, such as spec.nodeName=node-1,status.phase!=Failed", func(s string) error {
		o.fields = s
		_, err := fields.ParseSelector(s)
		return err
	})
	f.Func("output", "print events in this `format`: text, wide (in columns) or json (one object a line); default: text", o.format.set)
	f.Func("resync", "print all pods again after each `duration`, such as 1m; default: never", func(s string) error {
		return setDuration(&o.resync, time.Second, s)
	})
	f.StringVar(&o.record, "record", "", "record the server's responses in this `file`, for informertest.Replay")
	f.Func("debug-address", "serve a page about the informer at this `address`; :6060 means 127.0.0.1:6060; default: none", func(s string) (err error) {
		o.debug, err = debugAddress(s)
		return err
	})
	f.Func("for", "stop after this `duration`, such as 10s; default: at Ctrl-C", func(s string) error {
		return setDuration(&o.limitedTo, 0, s)
	})
	return f
}

// setDuration parses a duration, which must be zero or at least least.
func setDuration(d *time.Duration, least time.Duration, s string) (err error) {
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
}

// validNamespace checks the name of a namespace. An empty name stands for all namespaces.
func validNamespace(s string) error {
	if problems := validation.IsDNS1123Label(s); s != "" && len(problems) > 0 {
		return errors.New(strings.Join(problems, ", "))
	}
	return nil
}

// limit returns a context that ends when the time is up.
func (o *options) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.limitedTo == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, o.limitedTo)
}
