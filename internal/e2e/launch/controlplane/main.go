// Command controlplane starts and stops pairs of etcd and kube-apiserver for tests and benchmarks.
//
//	controlplane up -bin DIR [-- FLAG...]   start a pair with new data, print its kubeconfig
//	controlplane restart [FOLDER]           kill -9 the kube-apiserver, start it again
//	controlplane down [FOLDER]              stop the pair, remove its folder
//
// A pair outlives the command. It has a folder in the cache. Without a folder argument, restart and down
// apply to the newest pair. The flags of up are added to those of the kube-apiserver.
//
// The program imports only the standard library and package launch, so that go run does not compile
// Kubernetes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return errors.New("no command: use up, restart or down")
	}
	command, args := args[0], args[1:]

	if command == "up" {
		flags := flag.NewFlagSet("up", flag.ExitOnError)
		bin := flags.String("bin", "", "folder with the binaries etcd and kube-apiserver")
		if err := flags.Parse(args); err != nil {
			return err
		}
		if *bin == "" {
			return errors.New("up needs the flag -bin")
		}
		return up(ctx, cache, *bin, flags.Args())
	}

	p, err := chosen(cache, args)
	if err != nil {
		return err
	}
	switch command {
	case "restart":
		return restart(ctx, p)
	case "down":
		return down(p)
	}
	return fmt.Errorf("unknown command %q", command)
}

// attempts limits how often up tries. Between choosing a port and listening on it, another process may
// take the port.
const attempts = 5

func up(ctx context.Context, cache, bin string, flags []string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	for range attempts {
		p, err := newPair(cache, bin, flags)
		if err != nil {
			return err
		}
		err = p.run(ctx)
		if err == nil {
			err = linkCurrent(cache)
		}
		if err == nil {
			fmt.Println(p.kubeconfig())
			return nil
		}
		taken := launch.PortTaken(p.apiserver.file(".log"), p.etcd.file(".log"))
		if !taken {
			p.printLogs(os.Stderr)
		}
		err = errors.Join(err, p.end(syscall.SIGKILL), p.remove())
		if !taken {
			return err
		}
	}
	return fmt.Errorf("no free port in %d attempts", attempts)
}

func restart(ctx context.Context, p *pair) error {
	if p == nil {
		return errors.New("there is no pair to restart")
	}
	if err := p.apiserver.end(syscall.SIGKILL); err != nil {
		return err
	}
	// A process ends a little before its port is free.
	if err := waitFree(ctx, launch.Address(p.APIServer)); err != nil {
		return err
	}
	if err := p.run(ctx); err != nil {
		p.printLogs(os.Stderr)
		return err
	}
	fmt.Println(p.kubeconfig())
	return nil
}

func down(p *pair) error {
	if p == nil {
		fmt.Println("no control plane is running")
		return nil
	}
	if err := p.end(syscall.SIGTERM, syscall.SIGKILL); err != nil {
		return err
	}
	if err := p.remove(); err != nil {
		return err
	}
	fmt.Println("ended and removed", p.Dir)
	return nil
}

// chosen returns the pair that the arguments name, or the newest pair. It returns nil if there is none.
func chosen(cache string, args []string) (*pair, error) {
	switch len(args) {
	case 0:
		return current(cache)
	case 1:
		return openPair(args[0])
	}
	return nil, errors.New("too many arguments: only one folder is allowed")
}

// waitFree waits until no process listens at an address.
func waitFree(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return launch.Poll(ctx, 50*time.Millisecond, func() error {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		return l.Close()
	})
}
