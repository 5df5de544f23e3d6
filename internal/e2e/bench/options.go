package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// options is all that the flags say: what to measure, and where to put it.
type options struct {
	config
	only      string // the work whose name matches
	list      bool   // print names only
	readme    string // a file that gets the table
	benchstat string // a file that gets the samples
}

func parse(args []string) (o options, err error) {
	o.atLeast, o.profiles = 100*time.Millisecond, new(profiler)
	o.progress = func(work string) { fmt.Fprintln(os.Stderr, "bench:", work) }
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "how often each implementation does each work")
	flags.IntVar(&o.objects, "objects", 100_000, "how many `pods` the stores hold; with -scale, at most")
	flags.IntVar(&o.events, "events", 200_000, "how many events a run delivers; each is a pod of 1.3 kB")
	flags.BoolVar(&o.gc, "gc", false, "let the garbage collector run while something is measured")
	flags.BoolVar(&o.scale, "scale", false, "measure the first rows with 1,000 pods, 10,000 and so on, and GOMAXPROCS 1 and 2")
	flags.StringVar(&o.only, "only", "", "do the work whose name matches the `regexp`")
	impl := flags.String("impl", "", "with the implementations whose name matches the `regexp`, of client-go, native, face, source")
	flags.BoolVar(&o.list, "list", false, "print the names of the work, and do none")
	flags.StringVar(&o.readme, "readme", "", "write the table into the `file`, and the chart into "+chartFile)
	flags.StringVar(&o.benchstat, "benchstat", "", "append all samples to the `file`, for benchstat")
	flags.StringVar(&o.profiles.cpuFile, "cpuprofile", "", "write a CPU profile of tidemark's part to the `file`")
	flags.StringVar(&o.profiles.memFile, "memprofile", "", "write an allocation profile of tidemark's part to the `file`")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	return o, errors.Join(o.validate(), o.selects(*impl), o.complete(*impl))
}

// complete wants what goes into a README to be all there is.
func (o *options) complete(impl string) error {
	partly := o.only != "" || impl != "" || o.scale || o.profiles.cpuFile != "" || o.profiles.memFile != ""
	if o.readme != "" && partly {
		return errors.New("-readme takes the whole table, without -only, -impl, -scale and profiles")
	}
	return nil
}

func (o *options) works() []work {
	if o.scale {
		return scaleWorks(o.config)
	}
	return works(o.config)
}

// command is what to type at the repository's root to get the same.
func (o *options) command(args []string) string {
	if o.readme != "" && len(args) == 2 {
		return place.Command
	}
	command := "cd internal/e2e/bench && go run ."
	for _, a := range args {
		command += " " + report.Quoted(a)
	}
	return command
}

// write writes the files that were asked for.
func (o *options) write(machine string, results []result) (err error) {
	if o.benchstat != "" {
		err = appendBenchmarks(o.benchstat, results)
	}
	if o.readme != "" {
		err = errors.Join(err, writeReadme(o.readme, machine, results))
	}
	return errors.Join(err, o.profiles.write())
}
