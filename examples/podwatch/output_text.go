package main

import (
	"io"
	"log"
)

// text prints events in the words of the usual informer tutorials.
func text(w io.Writer) func(event) {
	out := log.New(w, "", log.LstdFlags)
	return func(e event) {
		switch e.kind {
		case added:
			out.Printf("New Pod Added to Store: %s", e.pod.Name)
		case updated:
			out.Printf("%s Pod Updated to %s", e.pod.Name, e.pod.Name)
		case deleted:
			out.Printf("Pod Deleted from Store: %s", e.pod.Name)
		}
	}
}
