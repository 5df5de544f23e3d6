package main

import (
	"bytes"
	"flag"
	"sync"

	"k8s.io/klog/v2"
)

// keepLogs keeps what the informers log, of whichever implementation, off the
// table, and returns it for the case that something fails.
func keepLogs() (*logs, error) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			return nil, err
		}
	}
	l := new(logs)
	klog.SetOutput(l)
	return l, nil
}

// logs keeps the beginning of what is written to it.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const keptLogs = 64 << 10

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.text.Len() < keptLogs {
		l.text.Write(b)
	}
	return len(b), nil
}

func (l *logs) String() string {
	klog.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.text.String()
}
