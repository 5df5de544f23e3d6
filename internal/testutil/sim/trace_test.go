package sim_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// trace is the history of a world as text. Between two steps each source and each handler has its own
// section, because the scheduler decides their order.
type trace struct {
	mu           sync.Mutex
	sections     map[string][]string // lines since the last step
	text         strings.Builder
	dropSections bool // only keep lines outside of sections
}

// add adds a line to a section.
func (t *trace) add(section, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropSections {
		return
	}
	if t.sections == nil {
		t.sections = map[string][]string{}
	}
	t.sections[section] = append(t.sections[section], fmt.Sprintf(format, args...))
}

// step closes the sections, and begins a step.
func (t *trace) step(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.sections)) {
		fmt.Fprintf(&t.text, "    %s:\n", name)
		for _, line := range sortRuns(t.sections[name]) {
			fmt.Fprintf(&t.text, "        %s\n", line)
		}
	}
	t.sections = nil
	if format != "" {
		fmt.Fprintf(&t.text, format+"\n", args...)
	}
}

// sortRuns sorts runs of initial adds and of lost deletes, because their order is not defined.
func sortRuns(lines []string) []string {
	free := func(line string) bool { return strings.HasPrefix(line, "initial ") || strings.HasPrefix(line, "lost ") }
	for i := 0; i < len(lines); {
		j := i + 1
		for free(lines[i]) && j < len(lines) && free(lines[j]) && lines[i][0] == lines[j][0] {
			j++
		}
		slices.Sort(lines[i:j])
		i = j
	}
	return lines
}

func (t *trace) String() string {
	t.step("")
	return t.text.String()
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16] }

// addLine adds a line outside of the sections.
func (t *trace) addLine(format string, args ...any) {
	t.step("    "+format, args...)
}
