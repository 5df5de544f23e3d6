package main

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/internal/process"
)

// outcome is the common part of all answers. An order may have several answers. Done marks the last one.
type outcome struct {
	Done  bool
	Error string
}

// outcomeOf returns the outcome of a completed or failed order.
func outcomeOf(err error) outcome {
	if err != nil {
		return outcome{Done: true, Error: err.Error()}
	}
	return outcome{Done: true}
}

// end reports whether an answer is the last one, and returns its error.
func (o outcome) end() (done bool, err error) {
	if o.Error != "" {
		err = errors.New(o.Error)
	}
	return o.Done, err
}

// last waits for the last answer of a process. If each is not nil, it is called with every answer.
func last[A interface{ end() (done bool, err error) }](child *process.Child, each func(A)) (A, error) {
	for {
		var a A
		if err := child.Receive(&a); err != nil {
			return a, fmt.Errorf("the process does not answer: %w", err)
		}
		if each != nil {
			each(a)
		}
		if done, err := a.end(); done {
			return a, err
		}
	}
}
