package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// logsFile lists the log lines.
const logsFile = "../../LOGS.md"

var rewrite = flag.Bool("rewrite", false, "write down what is logged now")

// logged returns an event of each type.
func logged() []Event {
	err := errors.New("broken")
	return []Event{
		reflector.Failed{Operation: reflector.OpList, Class: reflector.ErrorOther, Err: err},
		reflector.Failed{Operation: reflector.OpList, Err: apierrors.NewResourceExpired("too old")},
		reflector.Failed{Operation: reflector.OpList, Err: reflector.ErrNotServed},
		reflector.NotServed{Err: err}, reflector.Served{},
		reflector.Skipped{Err: err}, reflector.HistoryWentBack{}, reflector.HistoryUnknown{}, reflector.ClientDecoded{}, reflector.StreamRefused{}, reflector.SelectorRefused{},
		&QuarantineError{Err: err}, &indexer.IndexError{}, &StorageError{Err: err},
		Ghost{}, HandlerPanicked{},
		reflector.Asked{}, reflector.Paged{}, reflector.Listed{}, reflector.WatchStarted{}, reflector.WatchEnded{},
		reflector.BackedOff{}, reflector.Undecodable{},
	}
}

// A line that is written once does not keep another one from being written.
func TestLinesThatAreWrittenOnce(t *testing.T) {
	log := kit.CaptureLog(t)
	tell := LogEvents(t.Context(), "pods")
	for range 2 {
		tell(reflector.StreamRefused{Reason: "an unknown parameter"})
		tell(reflector.ClientDecoded{})
	}
	require.Equal(t, 1, log.Count("listed, not streamed"))
	require.Equal(t, 1, log.Count("The client decodes"))
}

// LOGS.md lists all log lines. With -rewrite, the test writes the list anew.
func TestLogsAreWrittenDown(t *testing.T) {
	var table strings.Builder
	table.WriteString("| level | message | more keys | event |\n| --- | --- | --- | --- |\n")
	for _, e := range logged() {
		l, ok := lineOf(e)
		if !ok {
			continue
		}
		var keys []string
		for n := 0; n < len(l.values); n += 2 {
			keys = append(keys, "`"+fmt.Sprint(l.values[n])+"`")
		}
		level := fmt.Sprintf("V(%d)", l.level)
		if l.level == levelError {
			level, keys = "error", append([]string{"`err`"}, keys...)
		}
		event := strings.Replace(strings.TrimPrefix(fmt.Sprintf("%T", e), "*"), "engine.", "informer.", 1) // as programs name it
		fmt.Fprintf(&table, "| %s | %s | %s | `%s` |\n", level, l.message, strings.Join(keys, ", "), event)
	}
	for _, message := range []string{floodMessage, floodedMessage} {
		fmt.Fprintf(&table, "| V(0) | %s | `lines` | |\n", message)
	}
	text, err := os.ReadFile(logsFile)
	require.NoError(t, err)
	_, rest, begun := strings.Cut(string(text), "<!-- lines -->\n")
	recorded, _, ended := strings.Cut(rest, "<!-- end -->")
	require.True(t, begun && ended, "the marks of the table")
	if *rewrite {
		require.NoError(t, os.WriteFile(logsFile, []byte(strings.Replace(string(text), recorded+"<!-- end -->", table.String()+"<!-- end -->", 1)), 0o600))
		return
	}
	require.Equal(t, table.String(), recorded)
}

// The events of logged include every event type of the reflector.
func TestLogsOfAllEvents(t *testing.T) {
	known := map[string]bool{}
	for _, e := range logged() {
		known[strings.TrimPrefix(fmt.Sprintf("%T", e), "reflector.")] = true
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../../../reflector/event.go", nil, 0)
	require.NoError(t, err)
	found := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "reflectorEvent" {
			continue
		}
		found++
		name := f.Recv.List[0].Type.(*ast.Ident).Name
		require.True(t, known[name], "%s is not among the events that are logged in this test", name)
	}
	require.Greater(t, found, 10)
}

// For one cause, at most one line a second is logged. The next line says how many were left out.
func TestLinesAreNotRepeated(t *testing.T) {
	l := kit.CaptureLog(t)
	w := &lineWriter{ctx: context.Background(), log: l.Logger()}
	now := time.Now()
	write := func(e Event) {
		line, ok := lineOf(e)
		require.True(t, ok)
		w.write(line, now)
	}
	one, two := reflector.Failed{Operation: reflector.OpList, Err: errors.New("one")}, reflector.HistoryWentBack{}
	for range 100 {
		write(one)
		write(two)
	}
	write(reflector.Failed{Operation: reflector.OpWatch, Err: errors.New("another")})
	require.Equal(t, 2, l.Count("Request failed"))
	require.Equal(t, 1, l.Count("history went back"))
	require.Zero(t, l.Count("repeated"))
	now = now.Add(time.Second)
	write(one)
	write(two)
	require.Equal(t, 3, l.Count("Request failed"))
	require.Equal(t, 2, l.Count("repeated=99"))
	now = now.Add(time.Second)
	write(one)
	require.Equal(t, 2, l.Count("repeated"), "nothing was left out meanwhile")
}

// That a stream is not allowed is no line by default: the list that follows shows what is allowed.
func TestAStreamThatIsNotAllowedIsNoLine(t *testing.T) {
	require.Zero(t, lineOfReflector(reflector.StreamRefused{Class: reflector.ErrorInvalid}).level)
	for _, class := range []reflector.ErrorClass{reflector.ErrorForbidden, reflector.ErrorUnauthorized} {
		require.Equal(t, levelDetail, lineOfReflector(reflector.StreamRefused{Class: class}).level)
	}
}
