package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster has the flags of an example: its cluster, and how long it runs. This file is the same in
// several examples.
type cluster struct {
	kubeconfig string        // empty for $KUBECONFIG or ~/.kube/config
	demo       bool          // use a demo cluster instead
	limitedTo  time.Duration // zero for no limit
}

// parse adds the flags of the cluster to f, and parses all flags. After -h it returns flag.ErrHelp.
func parse(f *flag.FlagSet, args []string) (cluster, error) {
	var c cluster
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig `file`; default: $KUBECONFIG, ~/.kube/config, or the demo")
	f.BoolVar(&c.demo, "demo", false, "use a demo cluster: an API server in this process")
	f.Func("for", "stop after this `duration`, such as 10s; default: at Ctrl-C", func(s string) (err error) {
		c.limitedTo, err = time.ParseDuration(s)
		if err == nil && c.limitedTo < 0 {
			return errors.New("it is negative")
		}
		return err
	})
	f.SetOutput(io.Discard) // errors are returned, and -h prints the usage
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c, err
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case err == nil && c.demo && c.kubeconfig != "":
		err = errors.New("--demo and --kubeconfig exclude each other")
	}
	if err != nil {
		return c, fmt.Errorf("%w; %s -h lists the flags", err, f.Name())
	}
	return c, nil
}

// exit prints the usage or the error, if any, and returns the exit code.
func exit(f *flag.FlagSet, err error, stdout, stderr io.Writer) int {
	switch {
	case errors.Is(err, flag.ErrHelp):
		log.New(stdout, "", 0).Printf("Usage: %s [flags]", f.Name())
		f.SetOutput(stdout)
		f.PrintDefaults()
	case err != nil:
		log.New(stderr, f.Name()+": ", 0).Print(strings.Join(strings.Fields(err.Error()), " "))
		return 1
	}
	return 0
}

// limit returns a context that ends when the time is up.
func (c cluster) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.limitedTo == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.limitedTo)
}

// config reads the kubeconfig as kubectl does: the file of the flag, or the files of $KUBECONFIG, or
// ~/.kube/config. It returns nil for a demo: if the flag asks for it, or if there is no kubeconfig.
func (c cluster) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath, rules.WarnIfAllMissing = c.kubeconfig, false
	files := strings.Join(rules.GetLoadingPrecedence(), string(filepath.ListSeparator))
	named := c.kubeconfig != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != ""
	if c.demo || !named && missing(rules.GetLoadingPrecedence()) {
		return nil, nil
	}
	if missing(rules.GetLoadingPrecedence()) {
		return nil, fmt.Errorf("the kubeconfig %s does not exist: check --kubeconfig and $%s, or try --demo", files, clientcmd.RecommendedConfigPathEnvVar)
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig %s cannot be used: %w", files, err)
	}
	return config, nil
}

// missing reports whether none of the files exists.
func missing(files []string) bool {
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			return false
		}
	}
	return true
}
