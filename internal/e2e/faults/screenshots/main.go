// Command screenshots makes pictures of the page /debug/informers, for people to look at:
// of informers on a real kube-apiserver that are healthy, still syncing, refused, out of
// date, that hold objects back, or that have a handler which does not return. Each is
// taken in light, in dark and at a phone's width.
//
//	make screenshots
//	make screenshots SCREENSHOTS=folder
//
// It fails where an informer is not in the state that was made, where Chromium complains
// of the page, where the page is wider than a phone, and where it loses the focus or its
// place as it renews itself. It takes some 5 minutes, most of them until silence counts as
// such.
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
	to := flag.String("to", "pictures", "the `folder` of the pictures")
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // says nothing of what fails on purpose
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
	defer func() { _ = os.RemoveAll(dir) }() // it is temporary anyway
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
	if err := s.play(ctx, page); err != nil {
		return err
	}
	b, err := newBrowser(ctx, dir)
	if err != nil {
		return err
	}
	defer b.close()
	return shoot(b, page.Report(), url, to, out)
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
		_ = server.Serve(listener) // it ends with Close
	}()
	return "http://" + listener.Addr().String() + "/debug/informers", func() {
		_ = server.Close()
		<-ended
	}, nil
}
