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

// statement is a statement of the contract. Each statement of parts 2 and 3 needs a test. Of part
// 1, the statements that client-go tests or documents need a test, except for statements about the
// inside of its queues.
type statement struct{ id, words string }

var statements = []statement{
	{"B1", "events come one at a time, in the order of the store"},
	{"B3", "a slow handler does not hold up another"},
	{"B4", "the store is changed before the event is told"},
	{"B6", "another object under the name is an update in client-go's interface"},
	{"B9", "a delete has the final state, or a tombstone the last one known"},
	{"B11", "initial adds are marked"},
	{"B12", "a handler registered twice is told twice"},
	{"B25", "the deltas of a key gather in a DeltaFIFO"},
	{"B26", "Replace buries what is not listed"},
	{"B27", "deletes of nothing, and resyncs of what is queued, are nothing"},
	{"B28", "a DeltaFIFO is synced once its first keys were processed"},
	{"B29", "tombstones and resyncs are not transformed in a queue"},
	{"B30", "what is stored is what is returned"},
	{"B31", "one call sees one state"},
	{"B34", "indexes may be added to a filled store"},
	{"B37", "an object has any number of values; a value without objects is gone"},
	{"B38", "transactions tell what they left out"},
	{"B39", "the store's version follows the writes"},
	{"B43", "writes of others are possible and tell nobody"},
	{"B44", "versions and limits of lists"},
	{"B45", "a version of the future is known by any of three forms"},
	{"B46", "a list that came in pages goes on in pages"},
	{"B47", "a page size that is set is used"},
	{"B48", "later pages name no version; one that expires means one whole list"},
	{"B50", "the version follows the list that is stored"},
	{"B53", "the options of a watch"},
	{"B55", "of a busy server a watch is asked for again, and no list"},
	{"B56", "other errors of a watch mean a list"},
	{"B57", "which is asked for at the last version"},
	{"B61", "what is not what was asked for is left out"},
	{"B63", "the version follows the events"},
	{"B65", "the resync timer"},
	{"B66", "the options of a stream"},
	{"B67", "a stream becomes the watch"},
	{"B68", "what follows when a stream fails"},
	{"B70", "who cannot stream is not asked to"},
	{"B71", "how often the transform runs"},
	{"B73", "changes are for everybody, resyncs for the due"},
	{"B75", "resync periods"},
	{"B76", "a resync is an update to itself, and no request"},
	{"B78", "joining before, during and after the run"},
	{"B80", "a registration is synced when it has been told the initial state"},
	{"B81", "leaving, twice, elsewhere and late"},
	{"B82", "ShutDownEventHandler waits"},
	{"B84", "the transform comes first and may change in place"},
	{"B85", "tombstones and resyncs are not transformed, deletes are"},
	{"B86", "a transform may run again on its own result, in client-go"},
	{"B89", "a transform may make what has no metadata"},
	{"B90", "a transform is set before the start"},
	{"B93", "a transform that returns nil leaves the object out"},
	{"B95", "Run ends after the handlers; what waits for them is dropped"},
	{"B96", "after the end the store is readable, and nothing runs again"},
	{"B97", "a panic of a handler ends the process, or costs the one item"},
	{"B98", "a panic is not swallowed"},
	{"B100", "nothing is left running"},
	{"B102", "synced is for ever"},
	{"B103", "waiting for checkers"},
	{"B104", "one informer of a type"},
	{"B105", "starting again starts what is new"},
	{"B106", "Shutdown waits and ends nothing"},
	{"B107", "WaitForCacheSync speaks of what was started"},
	{"B108", "options of a factory"},
	{"B109", "asking for an informer registers it"},
	{"B110", "one index, by namespace"},
	{"B115", "the mutation cache returns the newer one"},
	{"B116", "and forgets what the store has overtaken"},
	{"B117", "objects are shared by all"},
	{"D1", "nothing is lost by default; Latest merges"},
	{"D2", "natively another object is a delete and an add"},
	{"D3", "an object that cannot be prepared is quarantined"},
	{"D4", "an index that fails loses one object"},
	{"D5", "the map of indexers is its owner's"},
	{"D6", "the store's version does not go back"},
	{"D7", "a transform keeps the key, and hides nothing by clearing identities"},
	{"D8", "every wait ends with the context"},
	{"D9", "the back-off grows over an outage; a first 410 does not wait"},
	{"D10", "every error is told"},
	{"D11", "resyncs go on during an outage"},
	{"D12", "a stream that does not end well becomes a list"},
	{"D13", "the transform runs once, under no lock"},
	{"D14", "a relist is silent about what did not change"},
	{"D15", "a late handler delays nobody"},
	{"D16", "a handler that panics syncs, and no second is slept"},
	{"D17", "a handler may take itself out at any time"},
	{"D18", "of two first Runs one runs"},
	{"D19", "freshness is known"},
	{"D20", "several informers of a type, by lease"},
	{"D21", "a nil selector selects everything"},
	{"D22", "a silent watch is reopened"},
	{"D23", "a history that went back is noticed"},
	{"D24", "an informer goes on from what it holds, a server's by a watch"},
	{"D25", "informers of a type hold that type, others anything"},
	{"D26", "lists without versions, until one had one"},
	{"D27", "an object that moves between joined sources"},
	{"D28", "a function that ends its goroutine ends the run"},
	{"D29", "equal nested values are stored once"},
	{"D30", "an object that cannot be decoded costs itself"},
	{"D31", "what is known at its version is not decoded again"},
	{"D32", "a resource that is not served is waited for, and a 404 deletes nothing"},
	{"D33", "after WaitFresh a read is as new as the server's"},
	{"D35", "own writes are shown until the watch has them"},
	{"D36", "what own writes change for handlers and transforms"},
	{"D37", "several queries of several conditions are answered at one moment"},
	{"D38", "owners and references are known by indexes"},
	{"D39", "a factory's informers have the indexes that it is given"},
	{"D40", "packed objects equal what was stored, and are decoded for those who read them"},
	{"D41", "what cannot be packed is pinned"},
	{"T1", "the interfaces are whole"},
	{"T2", "registrations have ShutdownChan"},
	{"T3", "checkers have names"},
	{"T4", "error handlers get a reflector that can be read"},
	{"T5", "SetTransform(nil) is normal"},
	{"T6", "AddIndexers after the start"},
	{"T7", "tombstones are values"},
	{"T8", "an event is told whatever its version"},
	{"T9", "a relist tells deletions first, and shows at once"},
	{"T10", "initial adds of a late handler"},
	{"T11", "a second Run, and joining after the end"},
	{"T12", "the least resync period"},
	{"T13", "GetController answers"},
	{"T14", "the factory's keys and waits"},
	{"T15", "the mutation detector"},
	{"T16", "fake clientsets"},
	{"T17", "the gate WatchListClient"},
	{"T18", "Index of an ObjectMeta"},
	{"T19", "writes from anywhere"},
	{"T20", "InformerFor runs the constructor that it is given"},
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

// Each statement has a test, and each number in a test's name is a statement's.
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
		require.LessOrEqual(t, n, map[byte]int{'B': 118, 'D': 49, 'T': 21}[id[0]], "%s is no statement: %v", id, all[id])
	}
}

// table returns the results in this process, by statement and rig, and the statements with tests
// elsewhere.
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
			words[id] = "(read in its code)"
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
