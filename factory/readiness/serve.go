package readiness

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
)

// ServeHTTP serves the probe, see the package's guarantees.
func (p *Probe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	text, ready := p.text(r.URL.Query().Has("verbose"))
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Type", "text/plain; charset=utf-8")
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(text) // a write fails only if the client is gone
}

// text formats the result. Findings that fail the probe have a minus, and other lines have a plus.
func (p *Probe) text(verbose bool) (text []byte, ready bool) {
	var b bytes.Buffer
	ready = true
	for _, l := range p.lines() {
		if verbose && len(l.findings) == 0 {
			fmt.Fprintf(&b, "[+] %s ok: %s\n", l.name, show.Many(l.objects, "object"))
		}
		for _, f := range l.findings {
			sign := "+"
			if p.fails(f) {
				sign, ready = "-", false
			}
			fmt.Fprintf(&b, "[%s] %s\n", sign, f.text(l))
		}
	}
	if !ready {
		b.WriteString("not ")
	}
	b.WriteString("ready\n")
	return b.Bytes(), ready
}
