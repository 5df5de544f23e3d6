package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// browser is a Chromium that is controlled by its DevTools protocol, through a pipe. It is
// for one goroutine.
type browser struct {
	cmd        *exec.Cmd
	in         io.WriteCloser
	out        *bufio.Reader
	read       io.Closer
	session    string
	last       int // number of the last command
	complaints []string
	loaded     bool // since the last navigation
}

// message is a message from Chromium: the answer to a command, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// newBrowser starts Chromium with a profile of its own in a folder.
func newBrowser(ctx context.Context, dir string) (*browser, error) {
	path, err := find("chromium", "chromium-browser", "google-chrome")
	if err != nil {
		return nil, err
	}
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--force-color-profile=srgb", "--user-data-dir=" + filepath.Join(dir, "profile"),
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // the sandbox does not work for root; only our own page is opened
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	b := &browser{cmd: exec.CommandContext(ctx, path, args...), in: in, out: bufio.NewReader(out), read: out}
	b.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	err = b.cmd.Start()
	_ = theirIn.Close() // the child has its own copies
	_ = theirOut.Close()
	context.AfterFunc(ctx, func() { _ = out.Close() }) // ends a read that waits
	if err != nil {
		cancel()
		return nil, err
	}
	b.cmd.Cancel = func() error { cancel(); return b.cmd.Process.Kill() }
	return b, b.attach()
}

func find(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}

// attach opens a tab.
func (b *browser) attach() error {
	var target struct{ TargetID string }
	if err := b.do("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	if err := b.do("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return err
	}
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		if err := b.do(domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// close ends Chromium.
func (b *browser) close() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
	_ = b.in.Close()
	_ = b.read.Close()
}

// do sends a command, and waits for its result.
func (b *browser) do(method string, params, result any) error {
	b.last++
	command := map[string]any{"id": b.last, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return err
	}
	for {
		m, err := b.next()
		if err != nil {
			return err
		}
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			return fmt.Errorf("%w: %s: %s", errRefused, method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
}

// next reads a message, and records the load of the page and its errors.
func (b *browser) next() (m message, err error) {
	text, err := b.out.ReadBytes(0)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		return m, err
	}
	switch m.Method {
	case "Page.loadEventFired":
		b.loaded = true
	case "Log.entryAdded", "Runtime.exceptionThrown":
		if !bytes.Contains(m.Params, []byte("favicon")) { // the page has no favicon
			b.complaints = append(b.complaints, string(m.Params))
		}
	}
	return m, nil
}

// open shows a page.
func (b *browser) open(url string, l look) error {
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.complaints, b.loaded = nil, false
	for _, c := range []struct {
		method string
		params map[string]any
	}{
		{"Emulation.setDeviceMetricsOverride", map[string]any{"width": l.width, "height": 800, "deviceScaleFactor": 1, "mobile": l.width < 600}},
		{"Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}},
		{"Page.navigate", map[string]any{"url": url}},
	} {
		if err := b.do(c.method, c.params, nil); err != nil {
			return err
		}
	}
	for !b.loaded {
		if _, err := b.next(); err != nil {
			return err
		}
	}
	return nil
}

// eval returns the value of an expression. It waits for a promise.
func (b *browser) eval(expression string, value any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	err := b.do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if err != nil {
		return err
	}
	if answer.ExceptionDetails != nil {
		return fmt.Errorf("%w: %s: %s", errPage, expression, answer.ExceptionDetails.Text)
	}
	return json.Unmarshal(answer.Result.Value, value)
}

// screenshot returns a picture of the page from its top, as PNG, at most most pixels high.
func (b *browser) screenshot(width, most int) ([]byte, error) {
	var height int
	if err := b.eval("Math.ceil(document.documentElement.getBoundingClientRect().height)", &height); err != nil {
		return nil, err
	}
	var picture struct{ Data []byte }
	clip := map[string]any{"x": 0, "y": 0, "width": width, "height": min(height, most), "scale": 1}
	err := b.do("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true, "clip": clip}, &picture)
	return picture.Data, err
}
