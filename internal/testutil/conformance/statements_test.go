package conformance_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// statement is a statement of the contract. Each statement of parts 2 and 3 needs a test. In part 1,
// statements that client-go tests or documents need a test, except those about the internals of its
// queues.
type statement struct{ id, words string }

var statements = []statement{
	{"B1", "events are delivered one at a time, in the order of the store"},
	{"B3", "a slow handler does not delay others"},
	{"B4", "the store changes before the event is delivered"},
	{"B6", "another object with the same name is an update in client-go's interface"},
	{"B9", "a delete has the final state, or a tombstone with the last known state"},
	{"B11", "initial adds are marked"},
	{"B12", "a handler that is added twice gets each event twice"},
	{"B25", "a DeltaFIFO collects the deltas of a key"},
	{"B26", "Replace adds tombstones for unlisted objects"},
	{"B27", "deletes of unknown objects and resyncs of queued objects have no effect"},
	{"B28", "a DeltaFIFO is synced when its first keys were processed"},
	{"B29", "a queue does not transform tombstones and resyncs"},
	{"B30", "reads return the stored objects"},
	{"B31", "a call sees a single state"},
	{"B34", "indexes can be added to a filled store"},
	{"B37", "an object has any number of values; a value without objects disappears"},
	{"B38", "transactions report what they did not write"},
	{"B39", "the store's version is that of the last write"},
	{"B43", "users can write into the store; handlers get no events"},
	{"B44", "versions and limits of lists"},
	{"B45", "a version in the future is recognized in three forms"},
	{"B46", "later lists are paged if the first one was"},
	{"B47", "a configured page size is used"},
	{"B48", "later pages have no version; an expired page leads to one whole list"},
	{"B50", "the version is that of the stored list"},
	{"B53", "the options of a watch"},
	{"B55", "if the server is busy, the watch is retried without a list"},
	{"B56", "other errors of a watch lead to a list"},
	{"B57", "which is requested at the last version"},
	{"B61", "objects of another type are skipped"},
	{"B63", "the version is that of the last event"},
	{"B65", "the resync timer"},
	{"B66", "the options of a stream"},
	{"B67", "a stream continues as the watch"},
	{"B68", "what happens after a stream fails"},
	{"B70", "a source that cannot stream gets no stream request"},
	{"B71", "how often the transform runs"},
	{"B73", "changes reach all handlers, resyncs those that are due"},
	{"B75", "resync periods"},
	{"B76", "a resync is an update from the object to itself, without a request"},
	{"B78", "adding handlers before, during and after the run"},
	{"B80", "a registration is synced when the initial state is delivered"},
	{"B81", "removing handlers twice, elsewhere and late"},
	{"B82", "ShutDownEventHandler waits"},
	{"B84", "the transform runs first and may change the object in place"},
	{"B85", "tombstones and resyncs are not transformed, deletes are"},
	{"B86", "a transform may run again on its own result, in client-go"},
	{"B89", "a transform may return an object without metadata"},
	{"B90", "a transform is set before the start"},
	{"B93", "an object for which a transform returns nil is left out"},
	{"B95", "Run ends after the handlers; pending events are dropped"},
	{"B96", "after the end the store is readable, and the informer cannot run again"},
	{"B97", "a handler's panic ends the process, or skips one event"},
	{"B98", "a panic is not hidden"},
	{"B100", "no goroutines are left over"},
	{"B102", "synced stays true"},
	{"B103", "waiting for checkers"},
	{"B104", "one informer per type"},
	{"B105", "another Start starts new informers"},
	{"B106", "Shutdown waits, but does not stop informers"},
	{"B107", "WaitForCacheSync covers started informers"},
	{"B108", "options of a factory"},
	{"B109", "requesting an informer registers it"},
	{"B110", "one index, by namespace"},
	{"B115", "the mutation cache returns the newer object"},
	{"B116", "and forgets objects that are older than the store's"},
	{"B117", "all readers share the objects"},
	{"D1", "nothing is lost by default; Latest merges"},
	{"D2", "in the typed API another object is a delete and an add"},
	{"D3", "an object on which the transform fails is quarantined"},
	{"D4", "an index function that fails omits one object"},
	{"D5", "the map of indexers is a copy"},
	{"D6", "the store's version does not go back"},
	{"D7", "a transform keeps the key, and hides nothing by clearing identities"},
	{"D8", "all waits end with the context"},
	{"D9", "the back-off grows during an outage; a first 410 causes no back-off"},
	{"D10", "all errors are reported"},
	{"D11", "resyncs continue during an outage"},
	{"D12", "the informer lists after a failed stream"},
	{"D13", "the transform runs once, without a lock"},
	{"D14", "a relist delivers nothing for unchanged objects"},
	{"D15", "a late handler does not delay others"},
	{"D16", "a handler that panics becomes synced, without a sleep"},
	{"D17", "a handler may remove itself at any time"},
	{"D18", "of two concurrent Runs one runs"},
	{"D19", "freshness is known"},
	{"D20", "several informers per type, by lease"},
	{"D21", "a nil selector selects everything"},
	{"D22", "a silent watch is reopened"},
	{"D23", "a history that went back is detected"},
	{"D24", "an informer runs once; requests after its end get it or a new one"},
	{"D25", "typed informers hold their type, others any type"},
	{"D26", "lists without versions are accepted until one has a version"},
	{"D27", "an object that moves between joined sources"},
	{"D28", "a callback that ends its goroutine ends the run"},
	{"D29", "equal nested values are stored once"},
	{"D30", "an undecodable object affects only itself"},
	{"D31", "an object with a known version is not decoded again"},
	{"D32", "the informer waits for a resource that is not served; a 404 deletes nothing"},
	{"D33", "after WaitFresh, reads are as new as the server"},
	{"D35", "own writes are visible before the watch sends them"},
	{"D36", "what own writes change for handlers and transforms"},
	{"D37", "several queries are answered from the same state"},
	{"D38", "indexes find objects by owner and reference"},
	{"D39", "a factory's informers have the factory's indexes"},
	{"D40", "packed objects equal the stored objects, and are decoded when read"},
	{"D41", "objects that cannot be packed are pinned"},
	{"T1", "the interfaces are complete"},
	{"T2", "registrations have ShutdownChan"},
	{"T3", "checkers have names"},
	{"T4", "error handlers get a readable reflector"},
	{"T5", "SetTransform(nil) is valid"},
	{"T6", "AddIndexers after the start"},
	{"T7", "tombstones are values"},
	{"T8", "an event is delivered regardless of its version"},
	{"T9", "a relist delivers deletions first, and is visible at once"},
	{"T10", "initial adds of a late handler"},
	{"T11", "a second Run, and adding handlers after the end"},
	{"T12", "the shortest resync period"},
	{"T13", "GetController answers"},
	{"T14", "the factory's keys and waits"},
	{"T15", "the mutation detector"},
	{"T16", "fake clientsets"},
	{"T17", "the gate WatchListClient"},
	{"T18", "Index of an ObjectMeta"},
	{"T19", "writes from anywhere"},
	{"T20", "InformerFor calls the given constructor"},
	{"T21", "custom keys"},
}

// root is the root of the repository.
const root = "../../.."

var (
	testName = regexp.MustCompile(`(?m)^func (TestContract_((?:[BDT]\d+_)+)\w+)\(`)
	number   = regexp.MustCompile(`[BDT]\d+`)
)

// testsIn are the tests of one package for a statement.
type testsIn struct {
	folder string
	tests  []string
}

// testsOf returns the tests of the whole repository by statement.
func testsOf() (map[string][]testsIn, error) {
	all := map[string][]testsIn{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, match := range testName.FindAllStringSubmatch(string(text), -1) {
			for _, id := range number.FindAllString(match[2], -1) {
				all[id] = add(all[id], folder, match[1])
			}
		}
		return nil
	})
	return all, err
}

func add(known []testsIn, folder, test string) []testsIn {
	for i := range known {
		if known[i].folder == folder {
			known[i].tests = append(known[i].tests, test)
			return known
		}
	}
	return append(known, testsIn{folder, []string{test}})
}

// suitePackage is the package of the tests that run on the rigs.
const suitePackage = "internal/testutil/conformance"

// Each statement has a test, and each number in the name of a test is that of a statement.
func TestEveryStatementHasATest(t *testing.T) {
	all, err := testsOf()
	require.NoError(t, err)
	for _, s := range statements {
		if len(all[s.id]) == 0 {
			t.Errorf("%s (%s) has no test", s.id, s.words)
		}
	}
	for id := range all {
		n := 0
		_, err := fmt.Sscanf(id[1:], "%d", &n)
		require.NoError(t, err)
		require.LessOrEqual(t, n, map[byte]int{'B': 118, 'D': 49, 'T': 21}[id[0]], "%s is not a statement: %v", id, all[id])
	}
}

// table returns the results in this process by statement and rig, and the statements with tests in other
// packages.
func table() string {
	all, err := testsOf()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "%-5s %-5s %-16s %-8s %-8s %s\n", anys(cells)...) }
	line("", "tests", clientgoRig.name, sharedRig.name, typedRig.name, "")
	words := map[string]string{}
	for _, s := range statements {
		words[s.id] = s.words
	}
	for id := range all {
		if words[id] == "" {
			words[id] = "(found by reading its code)"
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(words), byNumber) {
		n, elsewhere := 0, ""
		cells := []string{id, "", "", "", "", ""}
		for _, f := range all[id] {
			n += len(f.tests)
			if f.folder != suitePackage {
				elsewhere += " " + f.folder
				continue
			}
			for i, r := range rigs {
				cells[2+i] = verdictsOf(f.tests, r)
			}
		}
		cells[1], cells[5] = fmt.Sprint(n), words[id]
		if elsewhere != "" {
			cells[5] += "; also in" + elsewhere
		}
		line(cells...)
	}
	return b.String()
}

// verdictsOf returns the verdicts of some tests on a rig.
func verdictsOf(tests []string, r rig) string {
	ran.Lock()
	defer ran.Unlock()
	seen := map[verdict]bool{}
	for _, test := range tests {
		if v := ran.verdicts[test][r.name]; v != "" {
			seen[v] = true
		}
	}
	if len(seen) > 1 {
		delete(seen, skipped)
	}
	var names []string
	for v := range seen {
		names = append(names, string(v))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func byNumber(a, b string) int {
	if a[0] != b[0] {
		return int(a[0]) - int(b[0])
	}
	return len(a)*1000 - len(b)*1000 + strings.Compare(a, b)
}

func anys(cells []string) []any {
	all := make([]any, len(cells))
	for i, c := range cells {
		all[i] = c
	}
	return all
}
