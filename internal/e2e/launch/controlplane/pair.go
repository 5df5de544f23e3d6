package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/e2e/launch"
)

// A pair is an etcd and a kube-apiserver that share a folder. Its file pair.json describes them. A
// folder without this file is not a pair.
type pair struct {
	launch.Servers

	apiserver server
	etcd      server
}

// newPair makes a folder with all files that the two servers need.
func newPair(cache, bin string, flags []string) (*pair, error) {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, err
	}
	// The newest pair is the last one in the order of names.
	dir, err := os.MkdirTemp(cache, time.Now().UTC().Format("pair-20060102T150405.000-*"))
	if err != nil {
		return nil, err
	}
	// Servers are identified by this path, so it must equal the path that openPair resolves.
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	p := &pair{}
	p.in(dir)
	if err := p.writeFiles(bin, flags); err != nil {
		return nil, errors.Join(err, p.remove())
	}
	return p, nil
}

func (p *pair) writeFiles(bin string, flags []string) error {
	servers, err := launch.New(p.Dir)
	if err != nil {
		return err
	}
	p.Servers = *servers
	description, err := json.MarshalIndent(p.Servers, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(p.File("pair.json"), append(description, '\n'), 0o600),
		os.WriteFile(p.kubeconfig(), p.Kubeconfig(p.APIServer), 0o600),
		p.etcd.writeScript(filepath.Join(bin, p.etcd.name), p.EtcdFlags()),
		p.apiserver.writeScript(filepath.Join(bin, p.apiserver.name), p.APIServerFlags(flags...)),
	)
}

// openPair reads a pair made by newPair.
func openPair(dir string) (*pair, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "pair.json"))
	if err != nil {
		return nil, fmt.Errorf("not a control plane: %w", err)
	}
	p := &pair{}
	if err := json.Unmarshal(text, &p.Servers); err != nil {
		return nil, err
	}
	p.in(dir)
	return p, nil
}

func (p *pair) in(dir string) {
	p.Dir = dir
	p.apiserver = server{dir, launch.APIServerName}
	p.etcd = server{dir, launch.EtcdName}
}

func (p *pair) kubeconfig() string { return p.File("kubeconfig") }

// run starts the servers that are not running, and waits until both serve.
func (p *pair) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, launch.StartTimeout, fmt.Errorf("not ready after %v", launch.StartTimeout))
	defer cancel()

	if err := p.etcd.run(ctx, p.EtcdReady); err != nil {
		return err
	}
	if err := p.apiserver.run(ctx, p.APIServerReady); err != nil {
		return err
	}
	// If another pair's etcd has taken the port, that etcd has answered.
	if p.etcd.pid() == 0 {
		return errors.New("etcd: the process ended")
	}
	return nil
}

// servers returns the servers in the order in which they must be stopped. Without etcd, a kube-apiserver
// stops slowly.
func (p *pair) servers() []server { return []server{p.apiserver, p.etcd} }

func (p *pair) end(signals ...syscall.Signal) error {
	for _, s := range p.servers() {
		if err := s.end(signals...); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) printLogs(w io.Writer) {
	for _, s := range p.servers() {
		s.printLog(w)
	}
}

// remove deletes the folder, with data, keys and logs.
func (p *pair) remove() error {
	return errors.Join(os.RemoveAll(p.Dir), linkCurrent(filepath.Dir(p.Dir)))
}
