package alerts

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// metrics returns the names of all metrics in the table of factory/metrics/README.md. Package
// factory/metrics tests that the table is complete. A summary has two series.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	readme, err := os.ReadFile(metricsFolder + "README.md")
	require.NoError(t, err)
	all := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\|").FindAllStringSubmatch(string(readme), -1) {
		if row[2] == "summary" {
			all[row[1]+"_sum"], all[row[1]+"_count"] = true, true
		} else {
			all[row[1]] = true
		}
	}
	require.NotEmpty(t, all)
	return all
}

// Every metric in the expressions of alerts and the dashboard exists.
func TestExpressionsNameMetricsThatExist(t *testing.T) {
	exists, asked := metrics(t), map[string]bool{}
	for from, expr := range expressions(t) {
		parsed, err := parser.ParseExpr(expr)
		require.NoError(t, err, "%s: %s", from, expr)
		parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
			if s, ok := n.(*parser.VectorSelector); ok {
				require.True(t, exists[s.Name], "%s uses the unknown metric %s", from, s.Name)
				asked[s.Name] = true
			}
			return nil
		})
	}
	require.Greater(t, len(asked), 12, "of %v", slices.Sorted(maps.Keys(asked)))
}

// expressions returns all PromQL expressions by the name of their alert or dashboard panel.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, r := range definitions(t) {
		all["alert "+name] = r.Expr
	}
	text, err := os.ReadFile(metricsFolder + "dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	grafana := strings.NewReplacer("$__rate_interval", "5m", "$instance", "a", "$resource", "b")
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all["panel "+p.Title] = grafana.Replace(target.Expr)
		}
	}
	require.Contains(t, all, "panel Staleness")
	return all
}
