package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// ask asks whether to begin. The goroutine that reads the answer lasts until there is one, or the program ends.
func ask(ctx context.Context, stdin io.Reader, stderr io.Writer) error {
	fmt.Fprint(stderr, "Begin? [y/N] ")
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdin).ReadString('\n') // no line is no consent
		answer <- line
	}()
	select {
	case line := <-answer:
		if !isYes(line) {
			return errDeclined
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func isYes(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}
