package demo

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// DebugAddress adds the flag --debug-address: the address of a page that shows the informers.
func (f *Flags) DebugAddress(address *string) {
	f.Func("debug-address", "serve a page that shows the informers at this `address`; :6060 means 127.0.0.1:6060; default: none", func(s string) error {
		*address = s
		if s == "" {
			return nil
		}
		host, port, err := net.SplitHostPort(s)
		if err == nil && host == "" { // only for this machine
			*address = net.JoinHostPort("127.0.0.1", port)
		}
		return err
	})
}

// Serve serves a page at an address until end is called. It does nothing if the address is empty.
func Serve(address, path string, page http.Handler, notes *log.Logger) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on the address of --debug-address: %w: choose another address", err)
	}
	mux := http.NewServeMux()
	mux.Handle(path, page)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // returns after Close
	}()
	notes.Printf("http://%s%s shows the informers", listener.Addr(), path)
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
