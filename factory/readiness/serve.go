package readiness

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// ServeHTTP answers a request for the probe, see the package's guarantees.
func (p *Probe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "a probe is asked with GET", http.StatusMethodNotAllowed)
		return
	}
	report, query := p.Report(), r.URL.Query()
	asJSON := query.Get("format") == "json"
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Type", "text/plain; charset=utf-8")
	if asJSON {
		header.Set("Content-Type", "application/json")
	}
	if !report.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if asJSON {
		_ = json.NewEncoder(w).Encode(report) // whoever has asked is gone
		return
	}
	p.write(w, report, query.Has("verbose"))
}

// write writes a report as text: what fails with a minus, and what does not with a plus.
func (p *Probe) write(w io.Writer, report Report, verbose bool) {
	for _, l := range report.Informers {
		if verbose && len(l.Findings) == 0 {
			fmt.Fprintf(w, "[+] %s ok: %d objects\n", l.Name, l.Objects)
		}
		for _, f := range l.Findings {
			sign := "+"
			if p.fails(f) {
				sign = "-"
			}
			fmt.Fprintf(w, "[%s] %s\n", sign, f.of(l))
		}
	}
	if report.Ready {
		fmt.Fprintln(w, "ready")
	} else {
		fmt.Fprintln(w, "not ready")
	}
}
