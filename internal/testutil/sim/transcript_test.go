package sim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/reflector"
)

var rewrite = flag.Bool("rewrite", false, "write the traces into the transcripts of testdata")

// Each file of testdata is a handwritten world: a comment about its purpose, a setup, the steps, and the
// expected trace. The checkers run as well.
func TestTranscripts(t *testing.T) {
	for _, file := range transcripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			script, want := readTranscript(t, file)
			o := playScript(t, script, mutant{})
			require.Empty(t, o.violations, o.trace)
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(script+"----\n"+o.trace), 0o600))
				return
			}
			require.Equal(t, want, o.trace)
		})
	}
}

func transcripts(t *testing.T) (files []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func readTranscript(t *testing.T, file string) (script, want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	script, want, _ = strings.Cut(string(text), "----\n")
	return script, want
}

func playScript(t *testing.T, script string, s mutant) (o outcome) {
	t.Helper()
	p := parsePlan(t, script)
	synctest.Test(t, func(*testing.T) {
		w := newWorld(p, s)
		w.script = true
		w.play()
		o = outcome{w.violations, w.trace.String(), w.reached}
	})
	return o
}

// parsePlan reads a setup and steps.
func parsePlan(t *testing.T, script string) plan {
	t.Helper()
	p := plan{setup: setup{namespaces: 1, names: 10, streaming: reflector.StreamingUnsupported, chance: 0.5}}
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#" || strings.HasPrefix(words[0], "##"):
		case words[0] == "setup":
			for _, word := range words[1:] {
				p.setup.set(t, word)
			}
		default:
			s := step{op: operation(words[0]), seed: uint64(len(p.steps))}
			rest := strings.Join(words[1:], " ")
			if _, err := fmt.Sscan(rest, &s.n); err != nil {
				s.name = rest
			}
			p.steps = append(p.steps, s)
		}
	}
	return p
}

func (s *setup) set(t *testing.T, word string) {
	t.Helper()
	switch word {
	case "streams":
		s.streaming = reflector.StreamingSupported
	case "frail", renames:
		s.transform = word
	case "namespaces":
		s.namespaces = 2
	case "pages":
		s.page, s.noCache = 2, true
	default:
		t.Fatalf("unknown setup: %q", word)
	}
}
