package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// Answers to writes are held, so that later ones overtake them, or are lost after the server has stored
// the write. The program reads nothing older than the answers that it gets. WaitFresh covers the other
// writes.
func TestScenario_OwnWritesWithoutAnswers(t *testing.T) {
	s := begin(t, harness.Options{})
	s.writes()
	p := s.program("answers", true)
	p.gateway.Break(harness.OnWrites(10, harness.DelayWatches(300*time.Millisecond),
		harness.HoldAnswer(2*time.Second), harness.LoseAnswer, harness.HoldAnswer(50*time.Millisecond), harness.TruncateAnswer,
		harness.HoldAnswer(200*time.Millisecond), harness.DenyAnswer))
	p.run(size(300, 10_000))
	p.settled()
	p.noGhosts()
	s.note = p.figures()
	t.Log(s.note)
	require.Positive(t, p.lost())
	s.row(0)
}
