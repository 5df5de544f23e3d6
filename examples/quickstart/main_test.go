package main

import (
	"context"
	"io"
	"log"
	"testing"

	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

// example is the program without a cluster.
var example = program.Run(func(ctx context.Context, _ []string, stdout, stderr io.Writer) int {
	config, err := demo(ctx)
	if err == nil {
		err = watch(ctx, config, log.New(stdout, "", 0))
	}
	if err != nil {
		log.New(stderr, "", 0).Print(err)
		return 1
	}
	return 0
})

func TestMain(m *testing.M) { program.Main(m) }

func TestProgram(t *testing.T) {
	p := example.Start(t)
	p.Prints(t, `^2 of 3 pods are labelled app=web$`)
	p.Prints(t, `^web-0 Pending -> Running$`)
	p.Prints(t, `^web-1 Pending -> Running$`)
	p.Interrupt()
	p.Exits(t, 0)
}
