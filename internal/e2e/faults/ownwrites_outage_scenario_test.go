package faults

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// errStill is the error while a scenario waits for something.
var errStill = errors.New("not yet")

// during calls what in the middle of the writes of a program, and waits until the writes have ended.
func (p *program) during(writes int, what func()) {
	p.s.t.Helper()
	var running sync.WaitGroup
	defer running.Wait()
	before := p.made()
	running.Go(func() { p.run(writes) })
	p.s.eventually("half of the writes are done", func() error {
		if p.made()-before < int64(writes*len(p.writers)/2) {
			return errStill
		}
		return nil
	})
	what()
}

// The server is killed during the writes of a program, and restarted with the same data.
func TestScenario_OwnWritesWhileTheServerIsKilled(t *testing.T) {
	s := begin(t, harness.Options{})
	s.writes()
	p := s.program("killed", true)
	p.late(300 * time.Millisecond)
	for range size(2, 10) {
		p.during(size(150, 1_000), func() { s.must(s.cluster.RestartAPIServer(s.ctx)) })
	}
	p.settled()
	p.noGhosts()
	s.note = p.figures()
	t.Log(s.note)
	require.Positive(t, p.lost())
	s.row(0)
}

// The server's data is restored from a copy during the writes of a program. Writes since the copy are
// lost, and so is the order of versions. The informers notice when they relist (D23). Until then the
// contract does not guarantee anything about their content. Afterwards they show the program's writes as
// before.
func TestScenario_OwnWritesWhileHistoryGoesBack(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.writes()
	p := s.program("restored", true)
	p.late(50 * time.Millisecond)
	p.anyOrder()
	p.run(size(50, 1_000))
	s.must(s.cluster.Backup(s.ctx))
	p.run(size(200, 2_000)) // more writes are lost than follow, because otherwise the new versions would reach the old ones unnoticed
	p.during(size(100, 1_000), func() {
		p.distrust(true)
		s.must(s.cluster.Restore(s.ctx))
		s.heal()
	})
	s.eventually("the informers have noticed", p.noticed)
	took := time.Since(s.healed)
	p.settled() // until the stores have the new history, a write may begin in the old one, and its answer is ignored
	p.distrust(false)
	p.run(size(150, 2_000))
	p.settled()
	s.note = p.figures()
	t.Log(s.note)
	s.row(took)
}
