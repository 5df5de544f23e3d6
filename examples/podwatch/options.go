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

// options are what the flags say.
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

// parse reads the flags. Its errors name the flag that is wrong; after -h it
// returns flag.ErrHelp.
func parse(args []string) (options, error) {
	var o options
	f := o.flags()
	f.SetOutput(io.Discard) // the error says it, and usage is asked for with -h
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

// usage prints what the flags are.
func usage(w io.Writer) {
	out := log.New(w, "", 0)
	out.Print(`podwatch prints what happens to the pods of a cluster.

Usage: podwatch [flags]

The cluster is the first of these that there is: with --demo, a made-up one;
that of the file named with --kubeconfig; that of $KUBECONFIG; that of
~/.kube/config; in a pod, that of its service account; the made-up one.

Flags:`)
	f := new(options).flags()
	f.SetOutput(w)
	f.PrintDefaults()
}

// flags returns a flag set that fills o.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("podwatch", flag.ContinueOnError)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "`file` that names the cluster")
	f.StringVar(&o.context, "context", "", "`name` of the kubeconfig's context to use; otherwise its current one")
	f.BoolVar(&o.demo, "demo", false, "watch a made-up cluster, on an API server in this process")
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
	f.Func("output", "print events in this `format`: text, wide (in columns) or json (one object a line); otherwise text", o.format.set)
	f.Func("resync", "tell of all pods again after each `duration`, such as 1m; otherwise never", func(s string) error {
		return setDuration(&o.resync, time.Second, s)
	})
	f.StringVar(&o.record, "record", "", "write what the server answers to this `file`, which informertest.Replay plays back")
	f.Func("debug-address", "show in a browser what the informer does, at this `address`; :6060 is 127.0.0.1:6060; otherwise nowhere", func(s string) (err error) {
		o.debug, err = debugAddress(s)
		return err
	})
	f.Func("for", "stop after this `duration`, such as 10s; otherwise at Ctrl-C", func(s string) error {
		return setDuration(&o.limitedTo, 0, s)
	})
	return f
}

// setDuration reads a duration that is zero, or not less than least.
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

// validNamespace tells whether a namespace may have this name. An empty one
// stands for all namespaces.
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
