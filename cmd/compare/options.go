package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// options are the values of the flags.
type options struct {
	kubeconfig string // empty for $KUBECONFIG or ~/.kube/config
	context    string // of the kubeconfig; empty for the current one
	namespace  string // empty for all
	kinds      []string
	events     time.Duration
	output     output
	yes        bool
	demo       bool
	demoPods   int
}

// defaultKinds are the kinds that most controllers cache.
const defaultKinds = "pods,configmaps,secrets,nodes,deployments.apps,replicasets.apps"

// parse parses the flags. Its errors name the invalid flag. After -h it returns flag.ErrHelp.
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
		err = errors.New("--demo cannot be combined with --kubeconfig")
	case err == nil && o.demo && o.context != "":
		err = errors.New("--demo cannot be combined with --context")
	}
	if err != nil {
		return o, fmt.Errorf("%w; %w", err, errUsage)
	}
	return o, nil
}

// usage prints the usage.
func usage(w io.Writer) {
	fmt.Fprint(w, `compare measures client-go's informers and tidemark's for the kinds of your cluster.

Usage: compare [flags]

It only lists and watches, and asks for confirmation. Exit codes: 0 measured; 1 an
error, or "no" to the question; 2 invalid flags, or no terminal for the question;
3 measured, but the two libraries did not see the same.

Flags:
`)
	f := new(options).flags()
	f.SetOutput(w)
	f.PrintDefaults()
}

// flags returns a flag set that fills o, and sets the defaults.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	o.kinds, o.events, o.output = strings.Split(defaultKinds, ","), time.Minute, outputTable
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "use the cluster of this kubeconfig `file`; default: $KUBECONFIG, ~/.kube/config, or a pod's service account")
	f.StringVar(&o.context, "context", "", "use the kubeconfig's context of this `name`; default: the current context")
	namespace := func(s string) error {
		o.namespace = s
		if problems := validation.IsDNS1123Label(s); s != "" && len(problems) > 0 {
			return errors.New(strings.Join(problems, ", "))
		}
		return nil
	}
	f.Func("namespace", "read only the objects of this `namespace`; default: all namespaces, whatever the context says", namespace)
	f.Func("n", "short for --namespace `namespace`", namespace)
	f.Func("kinds", "read these `kinds`, with kubectl's names; secrets are read without their data; default: "+defaultKinds, func(s string) (err error) {
		o.kinds, err = splitKinds(s)
		return err
	})
	f.Func("events", "watch changes for this `duration`; default: 60s", func(s string) (err error) {
		if o.events, err = time.ParseDuration(s); err == nil && o.events < time.Second {
			err = errors.New("must be at least 1s")
		}
		return err
	})
	f.Func("o", "print the result in this `format`: table or json; default: table", o.output.set)
	f.BoolVar(&o.yes, "yes", false, "begin without asking")
	f.BoolVar(&o.demo, "demo", false, "use a server with made-up objects on 127.0.0.1 instead of a cluster")
	f.Func("demo-pods", "the `number` of pods of --demo, with objects of other kinds in proportion; default: 5000", func(s string) error {
		if _, err := fmt.Sscanf(s+"\n", "%d\n", &o.demoPods); err != nil || o.demoPods < 1 {
			return errors.New("must be a positive number")
		}
		return nil
	})
	o.demoPods = 5000
	return f
}
