// Sharded is a controller of several replicas. Each reads its share of a cluster's ConfigMaps, and handles each of
// them: with N replicas, 1/N of the objects and of their memory. It is meant to be copied.
//
//	go run ./examples/sharded --demo --replicas 3
//	go run ./examples/sharded --shard 0/3
//
// Nobody keeps two processes apart. Whoever starts N replicas sees to it that each has an index of its own, from 0 to
// N-1, and stops all of them before N changes: two processes with overlapping shares both handle the same objects, and
// the share of a process that is gone is nobody's until it is back.
//
// --shard INDEX/N is the share. In a StatefulSet --replicas N is enough: the index is then the ordinal at the end of
// $HOSTNAME. Without either, the share is everything.
//
// With --demo, or if there is no cluster, the program starts an API server, and N processes of itself. They handle what
// is there, and what comes. Then all are stopped, and N+1 are started. At the end a table says who has handled how many
// ConfigMaps, and how many were handled by two, and by nobody. The same by hand, each in a terminal of its own:
//
//	go run ./examples/sharded --serve 127.0.0.1:8088
//	go run ./examples/sharded --kubeconfig FILE --shard 0/2
//	go run ./examples/sharded --kubeconfig FILE --shard 1/2
//
// where the first prints the name of the FILE. The exit code is 0, or 1 after an error: a flag or kubeconfig that cannot
// be used, or a cluster that did not answer in time.
//
// replica.go has a replica, demo.go the API server, and acts.go the two acts. If you copy the program, leave out
// demo.go and acts.go, and call replica.run with a rest.Config of your own.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/shard"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// settings are the values of the program's own flags.
type settings struct {
	shard    string // as in 0/3; empty for that of replicas
	replicas uint
	serve    string // the address of a demo API server for others; empty for none
}

// most is the highest number of replicas: the demo starts so many processes.
const most = 1000

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	notes := log.New(stderr, "sharded: ", log.LstdFlags|log.Lmsgprefix)
	out := log.New(stdout, "", 0)
	f := demo.NewFlags("sharded")
	var s settings
	f.StringVar(&s.shard, "shard", "", "the `share` of this process, as in 0/3: the first of three; default: that of --replicas")
	f.UintVar(&s.replicas, "replicas", 0, "the number of replicas; this is the one whose ordinal is at the end of $HOSTNAME, and the demo starts so many (default 3)")
	f.StringVar(&s.serve, "serve", "", "only serve the demo cluster at this `address`, such as 127.0.0.1:8088, for replicas in other terminals")
	err := f.Parse(args)
	switch {
	case err != nil:
	case s.replicas > most:
		err = f.Misused(fmt.Errorf("--replicas is at most %d", most))
	case s.serve != "" && f.NFlag() > 1:
		err = f.Misused(errors.New("--serve goes with no other flag"))
	case s.serve != "":
		err = serve(ctx, s.serve, notes)
	default:
		err = f.Run(ctx, notes, story, func(ctx context.Context, c demo.Cluster) error {
			if c.Demo && s.shard == "" {
				return play(ctx, c.Config, cmp.Or(s.replicas, 3), out)
			}
			share, err := s.share(os.Getenv("HOSTNAME"))
			if err != nil {
				return err
			}
			return replica{share: share, out: out}.run(ctx, c.Config)
		})
	}
	return f.Exit(err, stdout, stderr)
}

// share returns the share of this process, on a host of this name.
func (s settings) share(host string) (shard.Set, error) {
	nth := cmp.Or(s.shard, "0/1")
	if s.shard == "" && s.replicas > 0 {
		nth = fmt.Sprintf("%s/%d", host[strings.LastIndex(host, "-")+1:], s.replicas)
	}
	index, total, err := shard.ParseNth(nth)
	switch {
	case err != nil && s.shard == "":
		return shard.Set{}, fmt.Errorf("--replicas without --shard takes the index from the end of $HOSTNAME, which is %q: %w", host, err)
	case err != nil:
		return shard.Set{}, fmt.Errorf("--shard: %w", err)
	}
	// ByUID divides evenly. A controller whose objects have children that it looks up and counts takes ByNamespace: an
	// object and its children may be in two shares of the UIDs.
	return shard.Nth(shard.ByUID, index, total)
}
