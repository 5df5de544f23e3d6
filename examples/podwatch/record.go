package main

import (
	"cmp"
	"fmt"
	"log"
	"os"

	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// recordTo records the lists and watches of a configuration's clients in a file, until finish is
// called.
func recordTo(name string, config *rest.Config, notes *log.Logger) (finish func(), err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it may hold secrets
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	recorder := informertest.NewRecorder(file)
	config.Wrap(recorder.Wrap)
	return func() {
		closed := file.Close()
		if err := cmp.Or(recorder.Err(), closed); err != nil {
			notes.Printf("the recording is not complete: %s", oneLine(err.Error()))
		}
	}, nil
}
