package share

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A table is weighed with all that it holds, and no more than that.
func TestWeigh(t *testing.T) {
	require.Zero(t, (*Table)(nil).Weigh(nil))
	table := New(0)
	require.Zero(t, table.Weigh(func(any) { t.Error("there is nothing") }))

	site := NewSite("a site")
	table.Lock()
	text := table.String(site, []byte("a string"))
	table.Unlock()
	var met []string
	bytes := table.Weigh(func(v any) {
		if v != nil {
			met = append(met, fmt.Sprint(v))
		}
	})
	require.Equal(t, []string{text}, met)
	require.Positive(t, bytes)
}
