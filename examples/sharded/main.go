// Sharded is a controller with several replicas. Each replica reads and handles its share of a cluster's
// ConfigMaps. With N replicas, each one stores 1/N of the objects. It is meant to be copied.
//
//	go run ./examples/sharded --demo --replicas 3
//	go run ./examples/sharded --shard 0/3
//
// Sharding is static: tidemark does not coordinate replicas. Give each of N replicas its own index from 0 to
// N-1, and stop all replicas before N changes. Two processes with overlapping shares both handle the same
// objects. If a process stops, no other process handles its share.
//
// --shard INDEX/N sets the share. In a StatefulSet, --replicas N is enough: the index is then the ordinal at
// the end of $HOSTNAME. Without either flag, the share is everything.
//
// With --demo, or if there is no cluster, the program starts an API server and N processes of itself, which
// handle the existing objects and new ones. Then it stops all of them, and starts N+1. At the end, a table
// shows how many ConfigMaps each replica has handled, and how many were handled twice or never. To do the
// same by hand, use three terminals:
//
//	go run ./examples/sharded --serve 127.0.0.1:8088
//	go run ./examples/sharded --kubeconfig FILE --shard 0/2
//	go run ./examples/sharded --kubeconfig FILE --shard 1/2
//
// The first command prints the name of FILE. The exit code is 0, or 1 after an error: an invalid flag or
// kubeconfig, or a cluster that does not answer in time.
//
// replica.go has the replica, demo.go the API server, and acts.go the two acts. To copy the program, leave
// out demo.go and acts.go, and call replica.run with your own rest.Config.
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
	f.StringVar(&s.shard, "shard", "", "read this `share`, such as 0/3 for the first of three; default: the share of --replicas")
	f.UintVar(&s.replicas, "replicas", 0, "the `number` of replicas; the index of this replica is the ordinal at the end of $HOSTNAME; the demo starts this number, or 3")
	f.StringVar(&s.serve, "serve", "", "only serve the demo cluster at this `address`, such as 127.0.0.1:8088, for replicas in other terminals")
	err := f.Parse(args)
	switch {
	case err != nil:
	case s.replicas > most:
		err = f.Misused(fmt.Errorf("--replicas must be at most %d", most))
	case s.serve != "" && f.NFlag() > 1:
		err = f.Misused(errors.New("--serve cannot be combined with other flags"))
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

// share returns the share of this process on a host with the given name.
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
	// ByUID divides the objects evenly, but an object and its children may be in two shares. A controller
	// that looks up or counts the children of its objects must use ByNamespace.
	return shard.Nth(shard.ByUID, index, total)
}
