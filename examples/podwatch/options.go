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

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// options are what the flags say.
type options struct {
	kubeconfig string        // empty for $KUBECONFIG or ~/.kube/config
	namespace  string        // empty for all
	selector   string        // of labels; empty for all
	limitedTo  time.Duration // zero for no limit
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
	}
	if err != nil {
		return o, fmt.Errorf("%w; podwatch -h lists the flags", err)
	}
	return o, nil
}

// usage prints what the flags are.
func usage(w io.Writer) {
	log.New(w, "", 0).Print("podwatch prints what happens to the pods of a cluster.\n\nUsage: podwatch [flags]")
	f := new(options).flags()
	f.SetOutput(w)
	f.PrintDefaults()
}

// flags returns a flag set that fills o.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("podwatch", flag.ContinueOnError)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "`file` that names the cluster; otherwise $KUBECONFIG, ~/.kube/config, or else the demo")
	f.BoolVar(&o.demo, "demo", false, "watch a made-up cluster, on an API server in this process")
	f.Func("namespace", "watch the pods of this `namespace` only", func(s string) error {
		o.namespace = s
		return validNamespace(s)
	})
	f.Func("selector", "watch pods with these `labels` only, such as app=web,track!=retiring", func(s string) error {
		o.selector = s
		_, err := labels.Parse(s)
		return err
	})
	f.Func("for", "stop after this `duration`, such as 10s; otherwise at Ctrl-C", func(s string) (err error) {
		o.limitedTo, err = time.ParseDuration(s)
		if err == nil && o.limitedTo < 0 {
			return errors.New("it is negative")
		}
		return err
	})
	return f
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
