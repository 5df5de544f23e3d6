package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
)

// auditPolicy selects lists and watches. The log gets a line when an answer ends, and another one when
// the answer of a watch begins.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [list, watch]
- level: None
`

// Audited is a list or watch from the kube-apiserver's audit log.
type Audited struct {
	Verb  string
	Query url.Values
	Code  int
}

// Audited returns a user agent's audited lists and watches in order.
func (c *Cluster) Audited(userAgent string) ([]Audited, error) {
	text, err := os.ReadFile(c.file("audit.log"))
	if err != nil {
		return nil, err
	}
	return readAudit(text, userAgent)
}

func readAudit(text []byte, userAgent string) ([]Audited, error) {
	var all []Audited
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the server is still writing the last line
		}
		var e struct {
			AuditID, Verb, RequestURI, UserAgent string

			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if e.UserAgent != userAgent || seen[e.AuditID] {
			continue
		}
		seen[e.AuditID] = true
		u, err := url.Parse(e.RequestURI)
		if err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		all = append(all, Audited{Verb: e.Verb, Query: u.Query(), Code: e.ResponseStatus.Code})
	}
	return all, nil
}
