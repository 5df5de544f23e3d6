package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// environment describes the versions that were compared, and the machine.
type environment struct {
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Processors int    `json:"processors"`
	ClientGo   string `json:"clientGo"`
	Tidemark   string `json:"tidemark"`
}

func about() environment {
	e := environment{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.GOMAXPROCS(0)}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return e
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "k8s.io/client-go":
			e.ClientGo = m.Version
		case "github.com/tidemark-k8s/tidemark":
			e.Tidemark = m.Version
			if m.Replace != nil {
				e.Tidemark = "(this clone)"
			}
		}
	}
	return e
}

func (e environment) String() string {
	return fmt.Sprintf("client-go %s, tidemark %s; %s, %s, GOMAXPROCS %d", e.ClientGo, e.Tidemark, e.Go, e.Platform, e.Processors)
}
