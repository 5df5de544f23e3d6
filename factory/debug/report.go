package debug

import "time"

// Report is what the page shows, as ?format=json tells it. Durations are in seconds. Times
// are missing for what has not happened.
type Report struct {
	At        time.Time  `json:"at"`
	Informers []Informer `json:"informers"`
}

// Informer is how one informer is doing.
type Informer struct {
	ID       string    `json:"id"`   // for ?informer=
	Name     string    `json:"name"` // its resource and scope
	State    State     `json:"state"`
	Findings []Finding `json:"findings,omitempty"` // what is wrong, the weightiest first

	Synced        bool      `json:"synced"`
	SyncTook      float64   `json:"syncTookSeconds,omitzero"`
	WatchingSince time.Time `json:"watchingSince,omitzero"`
	Confirmed     time.Time `json:"confirmed,omitzero"` // when the server was last heard
	LastEvent     time.Time `json:"lastEvent,omitzero"`
	Staleness     float64   `json:"stalenessSeconds"`
	Version       string    `json:"version,omitempty"` // the resourceVersion of the store
	Progress      *Progress `json:"progress,omitempty"`

	Objects     int     `json:"objects"`
	Quarantined int     `json:"quarantined"`
	Unindexed   int     `json:"unindexed"`
	LeftOut     int     `json:"leftOut"`
	Memory      *Memory `json:"memory,omitempty"` // missing until it was measured
	Relists     int     `json:"relists"`
	Causes      []Count `json:"causes,omitempty"`  // of full states, the first one's among them
	Classes     []Count `json:"classes,omitempty"` // of errors
	Totals      Totals  `json:"totals"`

	Handlers []Handler `json:"handlers,omitempty"`
	Errors   []Error   `json:"errors,omitempty"` // at most 16, the newest first
	Notes    []string  `json:"notes,omitempty"`  // what the source does not have
	History  []Moment  `json:"history,omitempty"`
	Details  *Details  `json:"details,omitempty"` // of a single informer only
}

// Finding is something that is wrong with an informer.
type Finding struct {
	State State  `json:"state"`
	Why   string `json:"why"`
}

// Progress is how far a full state has come. The total is missing where the server does
// not say how many objects there are.
type Progress struct {
	Since   time.Time `json:"since"`
	Objects int       `json:"objects"`
	Total   int64     `json:"total,omitempty"`
	Bytes   int64     `json:"bytes"`
	Rate    float64   `json:"objectsPerSecond"`
}

// Memory is what an informer holds, in bytes of the heap.
type Memory struct {
	At      time.Time `json:"at"`
	Objects int64     `json:"objects"`
	Engine  int64     `json:"engine"` // the store's tables and indexes, and what waits for handlers
}

// Count is how often something has happened.
type Count struct {
	Of    string `json:"of"`
	Count int    `json:"count"`
}

// Totals are what has happened to an informer since it was made.
type Totals struct {
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

// Handler is how one handler is doing.
type Handler struct {
	Name     string     `json:"name"`
	Synced   bool       `json:"synced"`
	Backlog  int        `json:"backlog"`
	Lagging  bool       `json:"lagging"` // the backlog is above its bound
	Lag      float64    `json:"lagSeconds"`
	Told     uint64     `json:"told"`
	Failures int        `json:"failures"`
	Mean     float64    `json:"meanSeconds"`             // of the calls that were timed
	Calling  float64    `json:"callingSeconds,omitzero"` // how long the present call lasts
	Slowest  []SlowCall `json:"slowest,omitempty"`       // of the last 15 minutes, at most 5, of a millisecond or longer
}

// SlowCall is a call of a handler that took long.
type SlowCall struct {
	Key  string    `json:"key"`
	At   time.Time `json:"at"`
	Took float64   `json:"tookSeconds"`
}

// Error is an error of a list or watch.
type Error struct {
	At    time.Time `json:"at"`
	Class string    `json:"class"`
	Text  string    `json:"text"`
}

// Moment is how an informer was at one time of the last 15 minutes.
type Moment struct {
	At        time.Time `json:"at"`
	Rate      float64   `json:"eventsPerSecond"`
	Lag       float64   `json:"lagSeconds"` // that of the handler that lags most
	Staleness float64   `json:"stalenessSeconds"`
	Objects   int       `json:"objects"`
	Bytes     int64     `json:"bytes"`
}

// Details are what is told of a single informer.
type Details struct {
	Indexes     []Index             `json:"indexes"`
	Labels      []Index             `json:"labels"` // the label keys that objects are listed by
	Quarantined []QuarantinedObject `json:"quarantined"`
	Recent      []Event             `json:"recent"` // at most 200, the newest first
}

// Index is what an index, or the posting lists of a label key, are filled with.
type Index struct {
	Name       string `json:"name"`
	Namespaced bool   `json:"namespaced"` // the lists of a label key are those of each namespace
	Values     int    `json:"values"`
	Entries    int    `json:"entries"`
}

// QuarantinedObject is an object that could not be decoded or transformed.
type QuarantinedObject struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// Event is an event as it was told to the handlers.
type Event struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Key     string    `json:"key"`
	Version string    `json:"version"`
}
