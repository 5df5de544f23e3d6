package served

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJudge(t *testing.T) {
	start := time.Now()
	after := func(d time.Duration) finding { return finding{at: start.Add(d)} }
	const second = time.Second
	for name, c := range map[string]struct {
		row  []finding
		none bool // there are no objects
		want Answer
	}{
		"it is served":                      {[]finding{{versions: []string{"v2", "v1"}}}, false, Served},
		"other versions are served":         {[]finding{{versions: []string{"v2", "v3"}}}, false, Elsewhere},
		"nobody can say":                    {[]finding{{err: errors.New("down")}}, false, Unknowable},
		"two answers without it":            {[]finding{after(0), after(20 * second)}, false, 0},
		"three within ten seconds":          {[]finding{after(0), after(5 * second), after(9 * second)}, false, 0},
		"three over ten seconds":            {[]finding{after(0), after(9 * second), after(10 * second)}, false, Deleted},
		"four over ten seconds":             {[]finding{after(0), after(1 * second), after(2 * second), after(10 * second)}, false, Deleted},
		"without objects":                   {[]finding{after(0), after(9 * second), after(20 * second)}, true, 0},
		"it is back after two without it":   {[]finding{after(0), after(9 * second), {versions: []string{"v1"}}}, false, Served},
		"a failure after two without it":    {[]finding{after(0), after(9 * second), {err: errors.New("down")}}, false, Unknowable},
		"another version after two of none": {[]finding{after(0), after(9 * second), {versions: []string{"v2"}}}, false, Elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			var row absence
			var got Answer
			for _, f := range c.row {
				require.Zero(t, got)
				got = row.judge(f, "v1", !c.none)
			}
			require.Equal(t, c.want, got)
		})
	}
}
