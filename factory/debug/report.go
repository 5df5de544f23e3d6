package debug

import "time"

// report is the content of the page, and the answer to ?format=json. Durations are in seconds. Times of
// events that have not happened are left out.
type report struct {
	At        time.Time       `json:"at"`
	Informers []shownInformer `json:"informers"`
}

// shownInformer is the state of one informer.
type shownInformer struct {
	ID       string    `json:"id"`   // for ?informer=
	Name     string    `json:"name"` // its resource and scope
	State    state     `json:"state"`
	Findings []finding `json:"findings,omitempty"` // its problems, the most serious first

	Synced        bool           `json:"synced"`
	SyncTook      float64        `json:"syncTookSeconds,omitzero"`
	WatchingSince time.Time      `json:"watchingSince,omitzero"`
	Confirmed     time.Time      `json:"confirmed,omitzero"` // when the server last sent anything
	LastEvent     time.Time      `json:"lastEvent,omitzero"`
	Staleness     float64        `json:"stalenessSeconds"`
	Version       string         `json:"version,omitempty"` // the resourceVersion of the store
	Progress      *shownProgress `json:"progress,omitempty"`

	Objects     int          `json:"objects"`
	Quarantined int          `json:"quarantined"`
	Unindexed   int          `json:"unindexed"`
	LeftOut     int          `json:"leftOut"`
	Memory      *shownMemory `json:"memory,omitempty"` // missing until it was measured
	Packed      *shownPacked `json:"packed,omitempty"` // missing unless the objects are packed
	Relists     int          `json:"relists"`
	Causes      []count      `json:"causes,omitempty"`  // of full states, including the first one
	Classes     []count      `json:"classes,omitempty"` // of errors
	Totals      shownTotals  `json:"totals"`

	OwnWrites *shownOwnWrites `json:"ownWrites,omitempty"` // missing unless the informer is linked
	Shard     *shownShard     `json:"shard,omitempty"`     // missing unless the informer reads a share of the objects

	Handlers []shownHandler `json:"handlers,omitempty"`
	Errors   []shownError   `json:"errors,omitempty"` // at most 16, the newest first
	Notes    []string       `json:"notes,omitempty"`  // capabilities that the source lacks
	History  []shownMoment  `json:"history,omitempty"`
	Details  *shownDetails  `json:"details,omitempty"` // only in the view of a single informer
}

// shownOwnWrites counts what became of the program's own writes.
type shownOwnWrites struct {
	Shown    uint64 `json:"shown"`
	Outside  uint64 `json:"outside"`
	Waiting  uint64 `json:"waiting"`
	Doubtful uint64 `json:"doubtful"`
	Ghosts   uint64 `json:"ghosts"`
	Pending  int    `json:"pending"`
}

// shownShard is the share of the objects that an informer reads.
type shownShard struct {
	Share   string `json:"share"`
	Foreign uint64 `json:"foreign"`          // objects and events outside of the share that the informer has dropped
	Server  string `json:"server,omitempty"` // missing until it is known whether the server filters
}

// finding is a problem of an informer.
type finding struct {
	State state  `json:"state"`
	Why   string `json:"why"`
}

// shownProgress is the progress of a full state. Total is missing if the server does not say how many
// objects there are.
type shownProgress struct {
	Since   time.Time `json:"since"`
	Objects int       `json:"objects"`
	Total   int64     `json:"total,omitempty"`
	Bytes   int64     `json:"bytes"`
	Rate    float64   `json:"objectsPerSecond"`
}

// shownMemory is the heap used by an informer, in bytes.
type shownMemory struct {
	At      time.Time `json:"at"`
	Objects int64     `json:"objects"`
	Engine  int64     `json:"engine"` // the store's tables and indexes, and the events waiting for handlers
}

// shownPacked describes how an informer holds its packed objects. Sizes are in bytes.
type shownPacked struct {
	Packed  int64   `json:"packed"`
	Decoded int64   `json:"decoded"` // of the objects that are also kept decoded
	Budget  int64   `json:"budget"`
	Decodes float64 `json:"decodesPerSecond"`
	Pinned  int     `json:"pinned"` // the number of objects that always stay decoded
}

// count is how often something happened.
type count struct {
	Of    string `json:"of"`
	Count int    `json:"count"`
}

// shownTotals count the events since an informer was made.
type shownTotals struct {
	Lists     int    `json:"lists"`
	Streams   int    `json:"streams"`
	Watches   int    `json:"watches"`
	Errors    int    `json:"errors"`
	Added     uint64 `json:"added"`
	Updated   uint64 `json:"updated"`
	Deleted   uint64 `json:"deleted"`
	Bookmarks uint64 `json:"bookmarks"`
	Shared    uint64 `json:"shared"` // values that were not stored a second time
}

// shownHandler is the state of one handler.
type shownHandler struct {
	Name      string      `json:"name"`
	Synced    bool        `json:"synced"`
	Backlog   int         `json:"backlog"`
	Lagging   bool        `json:"lagging"` // more than 10,000 events wait
	Lag       float64     `json:"lagSeconds"`
	Delivered uint64      `json:"delivered"`
	Failures  int         `json:"failures"`
	Mean      float64     `json:"meanSeconds"`             // of the timed calls
	Calling   float64     `json:"callingSeconds,omitzero"` // duration of the current call so far
	Slowest   []shownCall `json:"slowest,omitempty"`       // at most 5 calls of the last 15 minutes, of a millisecond or longer
}

// shownCall is a slow call of a handler.
type shownCall struct {
	Key  string    `json:"key"`
	At   time.Time `json:"at"`
	Took float64   `json:"tookSeconds"`
}

// shownError is an error of a list or watch.
type shownError struct {
	At    time.Time `json:"at"`
	Class string    `json:"class"`
	Text  string    `json:"text"`
}

// shownMoment is the state of an informer at one time in the last 15 minutes.
type shownMoment struct {
	At        time.Time `json:"at"`
	Rate      float64   `json:"eventsPerSecond"`
	Decodes   float64   `json:"decodesPerSecond,omitzero"` // of packed objects
	Lag       float64   `json:"lagSeconds"`                // the largest of all handlers
	Staleness float64   `json:"stalenessSeconds"`
	Objects   int       `json:"objects"`
	Bytes     int64     `json:"bytes"`
}

// shownDetails are shown only for a single informer.
type shownDetails struct {
	Indexes     []shownIndex      `json:"indexes"`
	Labels      []shownIndex      `json:"labels"` // the label keys with posting lists
	Quarantined []shownQuarantine `json:"quarantined"`
	Recent      []shownEvent      `json:"recent"` // at most 200, the newest first
}

// shownIndex describes an index, or the posting lists of a label key.
type shownIndex struct {
	Name       string `json:"name"`
	Namespaced bool   `json:"namespaced"` // the label key has lists for each namespace
	Values     int    `json:"values"`
	Entries    int    `json:"entries"`
}

// shownQuarantine is an object that could not be decoded or transformed.
type shownQuarantine struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// shownEvent is an event that was delivered to the handlers.
type shownEvent struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Key     string    `json:"key"`
	Version string    `json:"version"`
}
