package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
)

// results is the table of all scenarios. It is printed at the end.
var results rows

type rows struct {
	mu  sync.Mutex
	all []row
}

// row has the requests and times of a scenario.
type row struct {
	scenario  string
	requests  string // pages of lists + streams + watches
	relists   int
	converged time.Duration // since the end of the fault
	note      string
}

func (r *rows) add(one row) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.all = append(r.all, one)
}

func (r *rows) table() string {
	r.mu.Lock()
	defer r.mu.Unlock()

	if len(r.all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| scenario | requests: lists+streams+watches | relists | time to converge | |\n| --- | --: | --: | --: | --- |\n")
	for _, one := range r.all {
		fmt.Fprintf(&b, "| %s | %s | %d | %v | %s |\n", one.scenario, one.requests, one.relists, one.converged.Round(time.Millisecond), one.note)
	}
	return b.String()
}

// words splits the name of a test into words.
func words(test string) string {
	_, name, _ := strings.Cut(test, "_")
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		begins := i > 0 && unicode.IsUpper(r) &&
			(unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func TestWordsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"TestScenario_CRDComesAndGoes": "crd comes and goes",
		"TestScenario_EtcdStopped":     "etcd stopped",
		"TestBadInput_SpeaksHTML":      "speaks html",
	} {
		if got := words(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
