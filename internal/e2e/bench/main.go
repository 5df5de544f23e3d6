// Command bench gives client-go's informers and tidemark's the same work in
// one process and prints a Markdown table of how they compare.
//
//	go run .                              all the work, a few minutes
//	go run . -list                        what there is
//	go run . -only '^event/' -rounds 9    some of it, more often
//	go run . -only event/16 -impl native -cpuprofile cpu.out
//	go run . -scale                       the first rows at several sizes
//
// Every piece of work is done by each implementation once a round, in turn;
// the table has the medians, and the details below it the spread. What an
// implementation is fed is made before, the same for all, and shared by them:
// objects that differ from version to version, from a source in memory that
// cannot stream its initial state (client-go would wait for it for ever). The
// garbage of what came before is collected first, and an informer has ended
// before the next one starts. Each run also proves that what was to be
// delivered was delivered: a count that is off is an error, and no row. What is
// no time, such as memory, is counted in the same way: once a round by each.
//
// The collector does not run while something is measured. With all that lies
// prepared on the heap it would seldom run, and whom it hits would be luck.
// That favours who allocates more; the allocations stand beside the times, and
// -gc lets it run. Where memory itself is the work it runs, and often.
//
// The times are wall time. What informers do, they do on several goroutines, so
// the details tell the CPU time of the whole process too. It holds the
// source's goroutine, which the rows "source alone" show by itself.
//
// The profiles hold the measured sections of tidemark and nothing else: not
// client-go's, and not what is made in between. Times taken with a profile are
// not to be quoted.
package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	selected, err := matching(o.only, o.works())
	if err != nil {
		return err
	}
	if o.list {
		for _, w := range selected {
			fmt.Printf("%-20s %s\n", w.name, w.title)
		}
		return nil
	}
	if o.profiles.memFile != "" {
		runtime.MemProfileRate = memProfileRate
	}
	where := report.Machine(o.command(args))
	fmt.Println(where)
	results, err := measureAll(o.config, selected)
	if err != nil {
		return err
	}
	fmt.Println(table(results))
	fmt.Println(details(results))
	return o.write(where, results)
}

func measureAll(c config, all []work) ([]result, error) {
	logged, err := keepLogs()
	if err != nil {
		return nil, err
	}
	var results []result
	for _, w := range all {
		r, err := measure(c, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", w.name, err, logged)
		}
		results = append(results, r)
	}
	return results, nil
}

// matching returns the work of which the name matches a pattern.
func matching(pattern string, all []work) (some []work, err error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if re.MatchString(w.name) {
			some = append(some, w)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no work has a name that matches %q; -list has the names", pattern)
	}
	return some, nil
}
