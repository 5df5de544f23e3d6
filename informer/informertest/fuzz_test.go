package informertest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

func FuzzModel(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		w := &twins{t: t, rand: r, model: newTestModel(t)}
		w.model.sharded = true
		for more() {
			w.step()
		}
		w.end()
	})
}

// Tokens are encoded and decoded without a loss, and other text is refused.
func FuzzToken(f *testing.F) {
	for _, s := range []string{"", "e30", "bnVsbA", token{Version: 7, Start: "a/p\x00"}.String(), token{Version: -1, Start: "\xff"}.String()} {
		f.Add(s, int64(7), "a/p")
		f.Add(s, int64(0), "a/p")
		f.Add(s, int64(-7), "\x80\x9b")
	}
	f.Fuzz(func(t *testing.T, text string, version int64, start string) {
		if read, err := parseToken(text); err == nil {
			again, err := parseToken(read.String())
			require.NoError(t, err)
			require.Equal(t, read, again)
		}
		want := token{API: tokenAPI, Version: version, Start: string([]rune(start))} // JSON is in UTF-8
		got, err := parseToken(token{Version: version, Start: start}.String())
		if version == 0 || start == "" {
			require.ErrorIs(t, err, errToken)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// A file that is not a recording is refused. A recording with any answers gives the same replay
// each time.
func FuzzReplay(f *testing.F) {
	for _, text := range []string{"", "{}", "null", "[]", `{"request":1}`, `{"request":1,"url":"x"}`, `{"request":1,"url":"/"}`} {
		f.Add(text)
	}
	f.Add(written)
	for _, change := range [][2]string{
		{`"code":200`, `"code":-1`}, {`"code":200`, `"code":101`}, {`"code":503`, `"code":301`}, {`"code":503`, `"code":429`}, {`"wait":"1"`, `"wait":"-1"`},
		{`"end":"EOF"`, `"end":"\u0000"`}, {`"body":{`, `"body":null,"x":{`}, {"?limit=500", ""}, {"watch=true", "watch=true&sendInitialEvents=true"},
		{`{"kind":"PodList"`, `{"kind":"Status"`}, {`"items":[`, `"items":[null,`}, {`"request":3`, `"request":-3`}, {"application/json", "application/vnd.kubernetes.protobuf"},
	} {
		f.Add(strings.ReplaceAll(written, change[0], change[1]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Replay(strings.NewReader(text)); err != nil {
			require.ErrorIs(t, err, errRecording)
			return
		}
		var first []string
		for round := range 2 {
			lines := replayed(t, text)
			if round == 0 {
				first = lines
			}
			require.Equal(t, first, lines)
		}
	})
}

// replayed plays a recording to an informer for five minutes.
func replayed(t *testing.T, text string) (lines []string) {
	inBubble(t, Options{}, func(t *testing.T, _ *Server) {
		r, err := Replay(strings.NewReader(text))
		require.NoError(t, err)
		lines = recordEvents(t, r.ClientConfig(), func(*informer.Informer[*corev1.Pod]) { time.Sleep(5 * time.Minute) })
	})
	return lines
}
