package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

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
