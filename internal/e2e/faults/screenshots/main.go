// Command screenshots takes pictures of the page /debug/informers for review. They show informers on a
// real kube-apiserver that are healthy, still syncing, refused or stale, have quarantined objects, or
// have a handler that does not return. Each picture is taken in light mode, in dark mode, and at the
// width of a phone.
//
//	make screenshots
//	make screenshots SCREENSHOTS=folder
//
// The command fails if an informer is not in its intended state, if Chromium reports an error of the
// page, if the page is wider than a phone, or if the page loses the focus or its scroll position when it
// refreshes. It takes about 5 minutes, mostly until a silent watch counts as stale.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/factory/debug"
)

func main() {
	to := flag.String("to", "pictures", "the `folder` for the pictures")
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // discards the errors that the scene causes
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *to, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// run makes the informers, waits, and takes the pictures.
func run(ctx context.Context, to string, out io.Writer) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "screenshots-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // best effort: the folder is temporary
	s, err := newScene(ctx, filepath.Join(dir, "cluster"))
	if err != nil {
		return err
	}
	defer s.end()
	page := debug.New(debug.Options{}, s.informers()...)
	url, end, err := serve(ctx, page)
	if err != nil {
		return err
	}
	defer end()
	fmt.Fprintln(out, "the page is at", url)
	if err := s.play(ctx, url); err != nil {
		return err
	}
	b, closeBrowser, err := newBrowser(ctx, dir)
	if err != nil {
		return err
	}
	defer closeBrowser()
	seen, err := read(ctx, url)
	if err != nil {
		return err
	}
	return shoot(b, seen, url, to, out)
}

// serve serves the page on 127.0.0.1.
func serve(ctx context.Context, page http.Handler) (url string, end func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/informers", page)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // ends with Close
	}()
	return "http://" + listener.Addr().String() + "/debug/informers", func() {
		_ = server.Close()
		<-ended
	}, nil
}
