package informertest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// tapeLine is one line of a recording, in JSON: a request, its answer, or an event of the answer.
// Lines with the same number belong together.
type tapeLine struct {
	// Request counts the requests, from 1.
	Request int `json:"request"`
	// At is the time since the recorder's beginning, such as "1.5s", for the reader.
	At string `json:"at"`

	// URL is the request's URL without the server.
	URL    string `json:"url,omitempty"`
	Accept string `json:"accept,omitempty"`

	Code int    `json:"code,omitempty"`
	Type string `json:"type,omitempty"` // Content-Type
	Wait string `json:"wait,omitempty"` // Retry-After
	// Body is a complete answer.
	Body json.RawMessage `json:"body,omitempty"`
	// Event is the next event of a watch.
	Event json.RawMessage `json:"event,omitempty"`
	// End is the server's end of a watch, or the reason for no answer: an error, or "EOF" for the
	// usual end. It is missing if the client ended the watch, or the recording ended.
	End string `json:"end,omitempty"`
}

// endOfFile is the usual end of a watch.
const endOfFile = "EOF"

// errorCode reports whether an answer is a refusal.
func errorCode(code int) bool { return code >= http.StatusBadRequest }

// tape identifies requests for replaying: by the resource, and by list or watch.
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
	// Informers of the same kind may have different selectors.
	t.selects = url.Values{"l": q["labelSelector"], "f": q["fieldSelector"]}.Encode()
	return t
}
