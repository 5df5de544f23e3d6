package kit

import (
	"strings"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// Log records klog's lines.
type Log struct{ Recorder }

// Write records a line.
func (l *Log) Write(line []byte) (int, error) {
	l.Add(string(line), nil)
	return len(line), nil
}

// Logger returns a logger that writes into l.
func (l *Log) Logger() klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(l)))
}

// Count returns the number of lines that contain a text.
func (l *Log) Count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// CaptureLog records klog's lines until the test ends. The test must not run in parallel with others.
func CaptureLog(t testing.TB) *Log {
	l := &Log{}
	klog.SetLogger(l.Logger())
	t.Cleanup(func() { klog.SetLogger(klog.Logger{}) })
	return l
}
