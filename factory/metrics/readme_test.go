package metrics

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// The table in README.md lists all metrics, and no others; -rewrite updates it.
func TestReadmeListsAllMetrics(t *testing.T) {
	var table strings.Builder
	table.WriteString("| metric | type | more labels | meaning |\n| --- | --- | --- | --- |\n")
	kinds := map[prometheus.ValueType]string{prometheus.GaugeValue: "gauge", prometheus.CounterValue: "counter", summaryValue: "summary"}
	for _, s := range all {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", s.name, kinds[s.kind], s.label, s.help)
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, begun := strings.Cut(string(readme), "<!-- metrics -->\n")
	recorded, _, ended := strings.Cut(rest, "<!-- end -->")
	require.True(t, begun && ended, "the marks of the table")
	if *rewrite {
		require.NoError(t, os.WriteFile("README.md", []byte(strings.Replace(string(readme), recorded+"<!-- end -->", table.String()+"<!-- end -->", 1)), 0o600))
		return
	}
	require.Equal(t, table.String(), recorded, "go test . -rewrite writes it anew")
}
