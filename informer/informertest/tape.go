package informertest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// tapeLine is one line of a recording, as JSON: a request, the head of its answer, or a part of the
// answer's body. The lines of a request have its number.
type tapeLine struct {
	// Request counts the requests, from 1.
	Request int `json:"request"`
	// At is the time since the recorder was made, such as "1.5s". Replay ignores it.
	At string `json:"at"`

	// URL is the URL of the request, without the server.
	URL    string `json:"url,omitempty"`
	Accept string `json:"accept,omitempty"`

	Code int    `json:"code,omitempty"`
	Type string `json:"type,omitempty"` // Content-Type
	Wait string `json:"wait,omitempty"` // Retry-After
	// Body is the whole body of an answer other than a watch.
	Body json.RawMessage `json:"body,omitempty"`
	// Event is the next event of a watch.
	Event json.RawMessage `json:"event,omitempty"`
	// End tells how the server ended a watch, or why a request got no answer: an error, or "EOF"
	// for the usual end. It is missing if the client ended the watch, or the recording stopped
	// first.
	End string `json:"end,omitempty"`
}

// endOfFile is the End of a watch that ended without an error.
const endOfFile = "EOF"

// errorCode reports whether an answer is an error.
func errorCode(code int) bool { return code >= http.StatusBadRequest }

// tape identifies the requests that replay from one sequence of answers: those with the same
// collection, verb and selectors.
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
