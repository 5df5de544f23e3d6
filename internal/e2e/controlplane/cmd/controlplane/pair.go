package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A pair is an etcd and a kube-apiserver that share a folder. The exported
// fields are the file pair.json in it, which is also what makes a folder a
// pair.
type pair struct {
	Apiserver string `json:"apiserver"` // https://127.0.0.1:PORT
	Etcd      string `json:"etcd"`      // http://127.0.0.1:PORT
	Token     string `json:"token"`     // of a user in system:masters

	dir       string
	apiserver server
	etcd      server
}

// newPair makes a folder with all that the two servers need to start.
func newPair(cache, bin string, flags []string) (*pair, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, err
	}
	// The newest pair is the last one by name.
	dir, err := os.MkdirTemp(cache, time.Now().UTC().Format("pair-20060102T150405.000-*"))
	if err != nil {
		return nil, err
	}
	// Servers are recognised by this path, so it must be the one that openPair
	// comes to.
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	p := &pair{
		Apiserver: fmt.Sprintf("https://127.0.0.1:%d", ports[0]),
		Etcd:      fmt.Sprintf("http://127.0.0.1:%d", ports[1]),
		Token:     rand.Text(),
	}
	p.in(dir)

	err = errors.Join(
		p.writeFiles(),
		p.etcd.writeScript(filepath.Join(bin, p.etcd.name), p.etcdFlags(ports[2])),
		p.apiserver.writeScript(filepath.Join(bin, p.apiserver.name), append(p.apiserverFlags(ports[0]), flags...)),
	)
	if err != nil {
		return nil, errors.Join(err, p.remove())
	}
	return p, nil
}

func (p *pair) writeFiles() error {
	key, err := newSigningKey()
	if err != nil {
		return err
	}
	description, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(p.file("pair.json"), append(description, '\n'), 0o600),
		os.WriteFile(p.file("sa.key"), key, 0o600),
		os.WriteFile(p.file("tokens.csv"), []byte(p.Token+`,e2e-admin,e2e-admin,"system:masters"`+"\n"), 0o600),
		os.WriteFile(p.kubeconfig(), []byte(p.kubeconfigText()), 0o600),
	)
}

// openPair reads the pair that newPair made.
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
	if err := json.Unmarshal(text, p); err != nil {
		return nil, err
	}
	p.in(dir)
	return p, nil
}

func (p *pair) in(dir string) {
	p.dir = dir
	p.apiserver = server{dir, "kube-apiserver"}
	p.etcd = server{dir, "etcd"}
}

func (p *pair) file(name string) string { return filepath.Join(p.dir, name) }

func (p *pair) kubeconfig() string { return p.file("kubeconfig") }

// startTimeout is generous: on an idle machine it takes 4 seconds.
const startTimeout = 2 * time.Minute

// run starts what does not run of the two, and waits until both serve.
func (p *pair) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()

	if err := p.etcd.run(ctx, p.etcdReady); err != nil {
		return err
	}
	if err := p.apiserver.run(ctx, p.apiserverReady); err != nil {
		return err
	}
	// If another pair's etcd got the port first, it is that one which answered.
	if p.etcd.pid() == 0 {
		return errors.New("etcd: the process ended")
	}
	return nil
}

// portTaken tells whether one of the servers died because somebody else got
// its port between freePorts and the start.
func (p *pair) portTaken() bool {
	for _, s := range p.servers() {
		text, err := os.ReadFile(s.file(".log"))
		if err == nil && bytes.Contains(text, []byte("address already in use")) {
			return true
		}
	}
	return false
}

// servers are in the order in which they end: without etcd the kube-apiserver
// is slow to leave.
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
	return errors.Join(os.RemoveAll(p.dir), linkCurrent(filepath.Dir(p.dir)))
}
