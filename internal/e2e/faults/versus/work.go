package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// work is one thing to measure. A round measures each implementation once: one
// after the other, or both at once where what they are told decides and is not
// the same twice.
type work struct {
	name    string
	world   *world
	task    task // without what (*stage).task adds
	round   func(s *stage, tasks [2]task, round int) ([2]sample, error)
	targets []target
}

// result is a work and its samples by implementation: client-go, tidemark.
type result struct {
	work
	samples [2][]sample
}

// The works of one world stand together, since it is made but once.
var works = []work{
	{
		"sync of pods by WatchList", podWorld, task{}, inTurn((*stage).sync),
		[]target{{cpu, 2.5, asked}, {heap, 0.38, asked}, {peakRSS, 0.45, asked}},
	},
	{
		"sync of pods by LIST", podWorld, task{Lists: true}, inTurn((*stage).sync),
		[]target{{cpu, 2, asked}, {heap, 0.38, asked}, {peakRSS, 0.45, asked}},
	},
	{
		"sync of pods, tidemark drops managedFields", podWorld, task{Fields: dropped}, inTurn((*stage).sync),
		[]target{{heap, 0.30, asked}},
	},
	{
		"sync of pods, a transform strips managedFields", podWorld, task{Fields: stripped}, inTurn((*stage).sync),
		[]target{{cpu, 2, asked}, {heap, 0.35, asked}},
	},
	{
		"relist after a 410 by WatchList, 1 % changed", podWorld, task{}, inTurn((*stage).relist),
		[]target{{cpu, 4, asked}},
	},
	{
		"relist after a 410 by LIST, 1 % changed", podWorld, task{Lists: true}, inTurn((*stage).relist),
		[]target{{cpu, 2, asked}},
	},
	{"relist after a 410 by WatchList, 1 % changed, wired", podWorld, task{Wired: true}, inTurn((*stage).relist), nil},
	{
		"1,000 updates/s, 1 handler", podWorld, task{}, atOnce,
		[]target{{cpuOfEvent, 1.5, hopedFor}},
	},
	{
		"1,000 updates/s, 16 handlers", podWorld, task{Handlers: 16}, atOnce,
		[]target{{cpuOfEvent, 1.5, hopedFor}},
	},
	{"50 informers reconnect", podWorld, task{Informers: podsByNamespace}, inTurn((*stage).storm), nil},
	{
		"sync of pods that share nothing", uniqueWorld, task{}, inTurn((*stage).sync),
		[]target{{cpu, 1, asked}, {heap, 1.02, asked}},
	},
	{
		"sync of a custom resource, dynamic", databaseWorld, task{Informers: dynamicDatabases, Wired: true}, inTurn((*stage).sync),
		[]target{{cpu, 5, asked}, {heap, 0.25, asked}},
	},
	{
		"sync of a custom resource, dynamic, tidemark drops managedFields", databaseWorld,
		task{Informers: dynamicDatabases, Wired: true, Fields: dropped}, inTurn((*stage).sync),
		[]target{{heap, 0.2, asked}},
	},
	{
		"sync of a custom resource, typed", databaseWorld, task{Informers: typedDatabases}, inTurn((*stage).sync),
		[]target{{cpu, 2, asked}, {heap, 0.4, asked}},
	},
	{
		"sync of 20 kinds", kindWorld, task{Informers: allKinds}, inTurn((*stage).sync),
		[]target{{peakRSS, 0.5, asked}},
	},
	{
		"the caches of kube-controller-manager", kindWorld, task{Informers: controllerCaches, Fields: stripped}, inTurn((*stage).sync),
		[]target{{peakRSS, 0.6, asked}},
	},
	{
		"a controller-runtime manager at work", widgetWorld, task{}, inTurn((*stage).fleet),
		[]target{{peakRSS, 0.6, asked}},
	},
}

// measureAll does all work that was asked for.
func measureAll(ctx context.Context, c config) (results []result, err error) {
	var s *stage
	defer func() {
		if s != nil {
			s.close()
		}
	}()
	for _, w := range works {
		if !c.only.MatchString(w.name) {
			continue
		}
		if s == nil || s.world != w.world {
			if s != nil {
				s.close()
			}
			if s, err = open(ctx, c, w.world); err != nil {
				return nil, fmt.Errorf("%s: %w", w.world.name, err)
			}
		}
		r, err := s.measure(w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func (s *stage) measure(w work) (result, error) {
	fmt.Fprintln(os.Stderr, "versus:", w.name)
	r := result{work: w}
	for round := range s.rounds {
		samples, err := w.round(s, [2]task{s.task(w, false, round), s.task(w, true, round)}, round)
		if err != nil {
			return r, err
		}
		for i, s := range samples {
			r.samples[i] = append(r.samples[i], s)
		}
	}
	return r, nil
}

// task returns the task of a work for one implementation.
func (s *stage) task(w work, tidemark bool, round int) task {
	t := w.task
	config := harness.Via(s.cluster.Config(), s.proxy.Address())
	t.Tidemark, t.Host, t.Token, t.CAFile = tidemark, config.Host, config.BearerToken, config.CAFile
	t.Handlers = max(t.Handlers, 1)
	if tidemark {
		t.CPUProfile = profileFile(s.cpuProfile, w.name, round, "cpu")
		t.MemProfile = profileFile(s.memProfile, w.name, round, "mem")
	}
	return t
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// profileFile is where the profile of a round goes, or nowhere.
func profileFile(folder, work string, round int, of string) string {
	if folder == "" {
		return ""
	}
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(work), "-"), "-")
	return filepath.Join(folder, fmt.Sprintf("%s.%d.%s.pprof", name, round, of))
}

// inTurn measures one implementation after the other.
func inTurn(do func(*stage, task) (sample, error)) func(*stage, [2]task, int) ([2]sample, error) {
	return func(s *stage, tasks [2]task, round int) (samples [2]sample, err error) {
		for _, i := range turns(round) {
			if samples[i], err = do(s, tasks[i]); err != nil {
				break
			}
		}
		return samples, err
	}
}

// turns is the order of the implementations in a round: neither always comes second.
func turns(round int) [2]int { return [2]int{round % 2, 1 - round%2} }
