package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// A replica that fails ends the demo with its error. Here the replica is this test, which rejects the flags.
func TestAReplicaThatFails(t *testing.T) {
	p := program.Run(run).Start(t, "--demo", "--replicas", "1")
	p.Exits(t, 1)
	assert.Regexp(t, `(?m)^sharded: sharded-0: exit status \d+$`, p.Stderr.String())
}
