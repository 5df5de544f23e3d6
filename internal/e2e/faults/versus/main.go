// Command versus lets client-go's informers and tidemark's do the same on a
// real kube-apiserver and etcd, each run in a process of its own, and prints a
// Markdown table with the ratios. Of updates both are told the same, at once.
//
//	make e2e-bench
//	make e2e-bench BENCHFLAGS='-pods 5000 -only sync'
//	make e2e-bench BENCHFLAGS='-only "sync by WatchList" -rounds 1 -cpuprofile /tmp/profiles'
//	make e2e-bench BENCHFLAGS='-readme ../../../README.md'
//
// The servers share the machine with what is measured, so wall times depend on
// both; CPU, memory and calls are those of the measured process alone. Peak is
// the most memory resident during the section, heap what is left of it when
// the garbage has been collected. Each run proves that the whole state arrived.
//
// Objects are made up by the package objects, and written straight into etcd,
// one a transaction, so that each has a version of its own. Work that needs
// others gets servers of its own, see stage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "versus:", err)
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	pods, rounds, updates  int
	unique                 bool
	only                   *regexp.Regexp
	cpuProfile, memProfile string // folders
	readme                 string
}

// place is where the table stands in a README.
var place = report.Place{Name: "e2e-bench", Command: "make e2e-bench"}

func run(ctx context.Context, args []string) error {
	c, child, err := parse(args)
	if err != nil {
		return err
	}
	if child != "" {
		return serve(ctx, child, os.Stdin, os.Stdout)
	}
	results, err := measureAll(ctx, c)
	if err != nil {
		return err
	}
	text := report.Machine(c.command(args)) + "\n" + table(results)
	fmt.Print(text)
	if c.readme == "" {
		return nil
	}
	return place.Write(c.readme, text)
}

func parse(args []string) (c config, child string, err error) {
	flags := flag.NewFlagSet("versus", flag.ContinueOnError)
	flags.IntVar(&c.pods, "pods", 20_000, "how many pods of 7 kB there are; of the other objects there are as many in proportion")
	flags.IntVar(&c.rounds, "rounds", 3, "how often each implementation does each work")
	flags.IntVar(&c.updates, "updates", 20_000, "how many updates the latency is measured with, 1,000 a second; of each pod one at most")
	flags.BoolVar(&c.unique, "unique", false, "let all pods share nothing with each other, not only those of the row about it")
	flags.StringVar(&c.cpuProfile, "cpuprofile", "", "write a CPU profile of each of tidemark's runs into the `folder`")
	flags.StringVar(&c.memProfile, "memprofile", "", "write a heap profile of each of tidemark's runs into the `folder`")
	flags.StringVar(&c.readme, "readme", "", "write the table into the `file`")
	only := flags.String("only", "", "do the work whose name matches the `regexp`")
	flags.StringVar(&child, "child", "", "for this program itself: the task of a measured process")
	if err := flags.Parse(args); err != nil || child != "" {
		return c, child, err
	}
	if c.only, err = regexp.Compile(*only); err != nil {
		return c, "", err
	}
	return c, "", errors.Join(c.validate(), c.complete(), c.prepare())
}

// leastPods are enough for each namespace, and each kind, to have some.
const leastPods = 1000

func (c *config) validate() error {
	if c.pods < leastPods || c.rounds < 1 || c.updates < 1 {
		return fmt.Errorf("-pods must be at least %d, -rounds and -updates 1", leastPods)
	}
	return nil
}

// complete wants what goes into a README to be all there is.
func (c *config) complete() error {
	if c.readme != "" && (c.only.String() != "" || c.unique || c.profiles()) {
		return errReadmePartly
	}
	return nil
}

func (c *config) profiles() bool { return c.cpuProfile != "" || c.memProfile != "" }

// prepare makes the folders of the profiles.
func (c *config) prepare() (err error) {
	for _, folder := range []*string{&c.cpuProfile, &c.memProfile} {
		if *folder == "" {
			continue
		}
		if *folder, err = filepath.Abs(*folder); err != nil {
			return err
		}
		if err := os.MkdirAll(*folder, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// command is what to type at the repository's root to get the same.
func (c *config) command(args []string) string {
	if c.readme != "" && len(args) == 2 {
		return place.Command
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = report.Quoted(a)
	}
	return place.Command + " BENCHFLAGS=" + report.Quoted(strings.Join(quoted, " "))
}
