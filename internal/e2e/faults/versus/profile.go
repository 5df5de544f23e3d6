package main

import (
	"bytes"
	"os"
	"runtime/pprof"
)

// profile is taken of a section, where a file is named. Times taken with one are
// not to be quoted.
type profile struct {
	cpuFile, memFile string
	cpu              bytes.Buffer // of the section
}

// start begins a section. That which was not ended is of no interest.
func (p *profile) start() error {
	if p.cpuFile == "" {
		return nil
	}
	pprof.StopCPUProfile()
	p.cpu.Reset()
	return pprof.StartCPUProfile(&p.cpu)
}

func (p *profile) stop() {
	if p.cpuFile != "" {
		pprof.StopCPUProfile()
	}
}

// write writes the files. That of the heap has what the collector left, and
// what was allocated in the whole life of the process.
func (p *profile) write() error {
	if p.cpuFile != "" {
		if err := os.WriteFile(p.cpuFile, p.cpu.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if p.memFile == "" {
		return nil
	}
	var heap bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&heap, 0); err != nil {
		return err
	}
	return os.WriteFile(p.memFile, heap.Bytes(), 0o644)
}
