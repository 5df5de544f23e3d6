package main

import (
	"bytes"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"

	"github.com/google/pprof/profile"
)

// memProfileRate is how many bytes are allocated for each sample of an
// allocation profile: many fewer than usual, since the sections are short.
const memProfileRate = 4096

// profiler collects profiles of sections. The runtime can only profile a stretch
// of time, so that each section is one profile, and they are added up in the
// end. A nil profiler collects nothing.
type profiler struct {
	cpuFile, memFile string
	cpu, mem         []*profile.Profile

	cpuNow bytes.Buffer     // of the section that is running
	memWas *profile.Profile // before it
}

func (p *profiler) start() (err error) {
	if p == nil {
		return nil
	}
	if p.memFile != "" {
		if p.memWas, err = allocations(); err != nil {
			return err
		}
	}
	if p.cpuFile != "" {
		p.cpuNow.Reset()
		return pprof.StartCPUProfile(&p.cpuNow)
	}
	return nil
}

func (p *profiler) stop() error {
	if p == nil {
		return nil
	}
	if p.cpuFile != "" {
		pprof.StopCPUProfile()
		section, err := profile.ParseData(p.cpuNow.Bytes())
		if err != nil {
			return err
		}
		p.cpu = append(p.cpu, section)
	}
	if p.memFile != "" {
		now, err := allocations()
		if err != nil {
			return err
		}
		p.memWas.Scale(-1)
		p.mem = append(p.mem, p.memWas, now)
	}
	return nil
}

// allocations returns all that was allocated so far.
func allocations() (*profile.Profile, error) {
	// What is allocated shows after the next collection but one.
	runtime.GC()
	runtime.GC()
	var b bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&b, 0); err != nil {
		return nil, err
	}
	return profile.ParseData(b.Bytes())
}

// write writes the files that were asked for.
func (p *profiler) write() error {
	if err := writeProfile(p.cpuFile, p.cpu, ""); err != nil {
		return err
	}
	return writeProfile(p.memFile, p.mem, "alloc_space")
}

// itself matches the function that reads the allocations and, by that, makes
// some.
var itself = regexp.MustCompile(`^main\.allocations$`)

func writeProfile(name string, sections []*profile.Profile, show string) error {
	if name == "" || len(sections) == 0 {
		return nil
	}
	sum, err := profile.Merge(sections)
	if err != nil {
		return err
	}
	sum.FilterSamplesByName(nil, itself, nil, nil)
	sum.DefaultSampleType = show
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := sum.Write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
