package readiness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
)

// ServeHTTP answers a request for the probe, see the package's guarantees.
func (p *Probe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	of, query := p.report(), r.URL.Query()
	asJSON := query.Get("format") == "json"
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Type", "text/plain; charset=utf-8")
	if asJSON {
		header.Set("Content-Type", "application/json")
	}
	if !of.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if asJSON {
		_ = json.NewEncoder(w).Encode(of) // a write fails only if the client is gone
		return
	}
	_, _ = w.Write(p.text(of, query.Has("verbose")))
}

// text formats a report: findings that fail the probe have a minus, other lines a plus.
func (p *Probe) text(of report, verbose bool) []byte {
	var b bytes.Buffer
	for _, l := range of.Informers {
		if verbose && len(l.Findings) == 0 {
			fmt.Fprintf(&b, "[+] %s ok: %s\n", l.Name, show.Many(l.Objects, "object"))
		}
		for _, f := range l.Findings {
			sign := "+"
			if p.fails(f) {
				sign = "-"
			}
			fmt.Fprintf(&b, "[%s] %s\n", sign, f.text(l))
		}
	}
	if !of.Ready {
		b.WriteString("not ")
	}
	b.WriteString("ready\n")
	return b.Bytes()
}
