package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/process"
)

// measuring runs the measured processes one after another, and then the last two in parallel.
type measuring struct {
	server   *connection
	found    survey
	demo     *demo // nil for a real cluster
	events   time.Duration
	progress *progress
	round    int // the number of syncs so far
}

// turns are the libraries of the syncs. Each library is first once. The processes of the last two syncs watch
// the events.
var turns = [4]string{clientGo, tidemark, tidemark, clientGo}

const (
	settling  = 500 * time.Millisecond // between two tallies
	mostTries = 20                     // tallies after the events
	barStep   = 100 * time.Millisecond // between two steps of the bar
)

func (m *measuring) run(ctx context.Context) (raw, error) {
	r := raw{Syncs: map[string][]syncSample{}, Events: m.events}
	living := map[string]*process.Child{}
	defer func() {
		for _, child := range living {
			child.End()
		}
	}()
	for i, side := range turns {
		child, sample, err := m.sync(ctx, side)
		if child != nil {
			living[side] = child
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", side, err)
		}
		r.Syncs[side] = append(r.Syncs[side], sample)
		if i < len(turns)/2 {
			child.End()
			delete(living, side)
		}
	}
	return r, m.watch(ctx, living, &r)
}

// sync starts a measured process, and waits for its sync.
func (m *measuring) sync(ctx context.Context, side string) (*process.Child, syncSample, error) {
	m.round++
	child, err := process.Start(ctx, roleVariable+"="+roleMeasured)
	if err != nil {
		return nil, syncSample{}, err
	}
	if err := child.Send(order{Do: doSync, Side: side, Target: m.server.target, Kinds: m.found.Kinds}); err != nil {
		return child, syncSample{}, err
	}
	label := fmt.Sprintf("sync %d of %d, %s", m.round, len(turns), side)
	a, err := last(child, func(a answer) { m.progress.show(label, a.Objects, m.found.total()) })
	return child, a.Sync, err
}

// both sends an order to both processes, and then waits for both answers.
func both(living map[string]*process.Child, do step) (map[string]answer, error) {
	for side, child := range living {
		if err := child.Send(order{Do: do}); err != nil {
			return nil, fmt.Errorf("%s: %w", side, err)
		}
	}
	answers := map[string]answer{}
	for side, child := range living {
		a, err := last[answer](child, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side, err)
		}
		answers[side] = a
	}
	return answers, nil
}

// watch measures the events, which both processes get at the same time.
func (m *measuring) watch(ctx context.Context, living map[string]*process.Child, r *raw) (err error) {
	var span window
	if span.from, err = m.server.versions(ctx, m.found.Kinds); err != nil {
		return err
	}
	if _, err := both(living, doBegin); err != nil {
		return err
	}
	if err := m.pass(ctx); err != nil {
		return err
	}
	ends, err := both(living, doEnd)
	if err != nil {
		return err
	}
	if span.to, err = m.server.versions(ctx, m.found.Kinds); err != nil {
		return err
	}
	r.ClientGoEvents, r.TidemarkEvents = ends[clientGo].Events, ends[tidemark].Events
	r.Seen, err = m.settle(ctx, living, span)
	return err
}

// pass waits while the events happen. In a demo, objects change during that time.
func (m *measuring) pass(ctx context.Context) error {
	if m.demo != nil {
		if err := m.demo.change(); err != nil {
			return err
		}
	}
	began := time.Now()
	ticker := time.NewTicker(barStep)
	defer ticker.Stop()
	for time.Since(began) < m.events {
		m.progress.show("events, both at once: seconds", int(time.Since(began)/time.Second), int(m.events/time.Second))
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if m.demo != nil {
		return m.demo.rest()
	}
	return nil
}

// settle compares what both processes have received, until they agree on each kind or the tries are used up.
// In a busy cluster, the two stores are read at slightly different times, so kinds agree at different tries.
func (m *measuring) settle(ctx context.Context, living map[string]*process.Child, span window) (seen, error) {
	all := seen{}
	for range mostTries {
		answers, err := both(living, doTally)
		if err != nil {
			return nil, err
		}
		all.add(m.found.Kinds, answers[clientGo].Tally, answers[tidemark].Tally, span)
		if all.agree() {
			break
		}
		select {
		case <-time.After(settling):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return all, nil
}
