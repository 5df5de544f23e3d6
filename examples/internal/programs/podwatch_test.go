package programs

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tidemark-k8s/tidemark/internal/testutil/program"
)

var podwatch = built("podwatch")

func TestPodwatch_Program(t *testing.T) { podwatch.Test(t) }

func TestPodwatch_Demo(t *testing.T) {
	t.Parallel()
	p := podwatch.Start(t) // a demo, because there is no kubeconfig
	p.Notes(t, program.Stamp+`podwatch: found no kubeconfig, so this is a demo cluster: an API server in this process, http://127\.0\.0\.1:\d+`)
	p.Prints(t, program.Stamp+`New Pod Added to Store: \w+-\w{10}-\w{5}$`)
	p.Interrupt()
	p.Exits(t, 0)
	assert.Regexp(t, `(?m)^  errors     0$`, p.Stdout.String())
}
