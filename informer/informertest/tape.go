package informertest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// tapeLine is one line of a recording, which is JSON: a request, its answer,
// or a piece of what the answer brings. Lines of the same number belong
// together.
type tapeLine struct {
	// Request counts the requests, from 1.
	Request int `json:"request"`
	// At is the time since the recorder was made, such as "1.5s". It is for the reader.
	At string `json:"at"`

	// URL is that of the request, without the server.
	URL    string `json:"url,omitempty"`
	Accept string `json:"accept,omitempty"`

	Code int    `json:"code,omitempty"`
	Type string `json:"type,omitempty"` // Content-Type
	Wait string `json:"wait,omitempty"` // Retry-After
	// Body is an answer that came whole.
	Body json.RawMessage `json:"body,omitempty"`
	// Event is the next event of a watch.
	Event json.RawMessage `json:"event,omitempty"`
	// End is how the server ended a watch, or why there was no answer: an error,
	// or "EOF" for the usual end. Where it is missing, it was the client, or the
	// end of the recording.
	End string `json:"end,omitempty"`
}

// endOfFile is the usual end of a watch.
const endOfFile = "EOF"

// errorCode tells whether an answer is a refusal.
func errorCode(code int) bool { return code >= http.StatusBadRequest }

// tape tells requests apart, as far as replaying does: what they list or watch.
type tape struct {
	path    string
	watches bool
	streams bool // the watch asks for the initial state
	selects string
}

func tapeOf(u *url.URL) tape {
	q := u.Query()
	yes := []string{"1", "true"}
	t := tape{path: u.Path, watches: slices.Contains(yes, q.Get("watch"))}
	t.streams = t.watches && slices.Contains(yes, q.Get("sendInitialEvents"))
	// Informers of the same kind may differ in what they select.
	t.selects = url.Values{"l": q["labelSelector"], "f": q["fieldSelector"]}.Encode()
	return t
}
