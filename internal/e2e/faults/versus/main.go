// Command versus lets client-go's informers and tidemark's do the same on a
// real kube-apiserver and etcd, each run in a process of its own, and prints a
// Markdown table with the ratios. Of updates both are told the same, at once.
//
//	make e2e-bench
//	make e2e-bench BENCHFLAGS='-pods 5000 -only sync'
//
// The servers share the machine with what is measured, so wall times depend on
// both; CPU, memory and calls are those of the measured process alone. Peak is
// the most memory resident during the section, heap what is left of it when
// the garbage has been collected. Each run proves that the whole state arrived.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"syscall"
	"time"
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
	pods, rounds, updates int
	only                  *regexp.Regexp
}

func run(ctx context.Context, args []string) error {
	var c config
	flags := flag.NewFlagSet("versus", flag.ContinueOnError)
	flags.IntVar(&c.pods, "pods", 20_000, "how many pods of 6 kB there are")
	flags.IntVar(&c.rounds, "rounds", 3, "how often each implementation does each work")
	flags.IntVar(&c.updates, "updates", 5_000, "how many updates the latency is measured with, 500 a second")
	only := flags.String("only", "", "do the work whose name matches the `regexp`")
	child := flags.String("child", "", "for this program itself: the task of a measured process")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *child != "" {
		return serve(ctx, *child, os.Stdin, os.Stdout)
	}
	var err error
	if c.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if c.pods < namespaces || c.rounds < 1 || c.updates < 1 {
		return fmt.Errorf("-pods must be at least %d, -rounds and -updates 1", namespaces)
	}
	results, err := measureAll(ctx, c)
	if err != nil {
		return err
	}
	fmt.Print(table(results))
	return nil
}

// process is a measured process: it is sent orders and answers each of them.
type process struct {
	cmd     *exec.Cmd
	orders  *json.Encoder
	in      io.Closer
	answers *json.Decoder
}

// spawn starts this program again, as a child with a task.
func spawn(ctx context.Context, t task) (*process, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", string(text))
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), fmt.Sprintf("KUBE_FEATURE_WatchListClient=%v", !t.Lists))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, json.NewEncoder(in), in, json.NewDecoder(bufio.NewReader(out))}, cmd.Start()
}

// ask gives an order and waits for the answer.
func (p *process) ask(o order) (sample, error) {
	if err := p.orders.Encode(o); err != nil {
		return sample{}, err
	}
	return p.answer()
}

func (p *process) answer() (s sample, err error) {
	if err = p.answers.Decode(&s); err == nil && s.Error != "" {
		err = errors.New(s.Error)
	}
	return s, err
}

// askBoth gives two processes the same order at the same time.
func askBoth(processes [2]*process, o order) (samples [2]sample, err error) {
	for _, p := range processes {
		if err := p.orders.Encode(o); err != nil {
			return samples, err
		}
	}
	for i, p := range processes {
		if samples[i], err = p.answer(); err != nil {
			return samples, err
		}
	}
	return samples, nil
}

// end closes the orders, at which the process ends by itself.
func (p *process) end() {
	_ = p.in.Close()                                                             // it may have ended
	timer := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() }) // it may have ended
	defer timer.Stop()
	_ = p.cmd.Wait() // how it ended matters no more
}
