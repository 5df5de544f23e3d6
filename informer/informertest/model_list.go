package informertest

import (
	"encoding/base64"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// page is the answer to a list request.
type page struct {
	objects []runtime.Object
	version uint64
	// next is the token that continues the list; it is empty for the last page.
	next string
	// remaining is the number of objects on later pages. As in a real server, it is set only without
	// selectors.
	remaining *int64
	// shards is the selector of the page's shards; it is empty without one.
	shards string
}

func (m *model) list(r schema.GroupVersionResource, namespace string, o internalversion.ListOptions) (kind, page, error) {
	s, err := m.query(r, namespace, &o)
	if err != nil {
		return kind{}, page{}, err
	}
	version, from, err := m.position(s.prefix, o)
	if err != nil {
		return kind{}, page{}, err
	}
	limit := o.Limit
	if o.ResourceVersion == "0" && !m.noWatchCache {
		limit = 0 // a watch cache ignores the limit of such a list
	}
	return s.kind, s.page(version, from, limit), nil
}

// position returns the version of a list and the path to start from.
func (m *model) position(prefix string, o internalversion.ListOptions) (version uint64, from string, err error) {
	if o.Continue != "" {
		return m.resume(prefix, o)
	}
	asked, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return 0, "", errBadVersion(err)
	}
	// A limit with a version, but without resourceVersionMatch, means exactly that version. The rule is older
	// than resourceVersionMatch.
	exact := o.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		o.ResourceVersionMatch == "" && o.Limit > 0 && asked > 0
	switch {
	case asked > m.version:
		return 0, "", errTooLarge(asked, m.version)
	case !exact:
		return m.version, "", nil
	case asked < m.compacted:
		return 0, "", errListExpired()
	}
	return asked, "", nil
}

// resume returns the version and the path of a continue token.
func (m *model) resume(prefix string, o internalversion.ListOptions) (version uint64, from string, err error) {
	t, err := parseToken(o.Continue)
	if err != nil {
		return 0, "", errBadToken(err)
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return 0, "", errTokenWithVersion()
	}
	version, from = uint64(t.Version), prefix+t.Start
	switch {
	case t.Version < 0: // an expired list continues at the current state
		return m.version, from, nil
	case version > m.version:
		return 0, "", errTooLarge(version, m.version)
	case version < m.compacted:
		return 0, "", errTokenExpired(token{Version: -1, Start: t.Start})
	}
	return version, from, nil
}

// page collects up to limit objects, or all if limit is 0. As in a real server, another page follows if
// objects are left, even if none of them matches the selectors.
func (s selection) page(version uint64, from string, limit int64) page {
	p := page{version: version, objects: []runtime.Object{}, shards: s.shards.String()}
	var last string
	var more int64
	for path, obj := range s.scan(s.prefix, from, version) {
		if limit > 0 && int64(len(p.objects)) == limit {
			more++
		} else if s.matches(obj) {
			p.objects, last = append(p.objects, obj), path
		}
	}
	if more > 0 {
		p.next = token{Version: int64(version), Start: last[len(s.prefix):] + "\x00"}.String()
		if s.everything() {
			p.remaining = &more
		}
	}
	return p
}

// token is a continue token: the version of the list, and the path of its next object relative to the list's
// namespace. It has the form of a real server's tokens. Clients must not interpret it.
type token struct {
	API string `json:"v"`
	// Version is negative if the list continues at the current state.
	Version int64  `json:"rv"`
	Start   string `json:"start"`
}

const tokenAPI = "meta.k8s.io/v1"

// String encodes the token.
func (t token) String() string {
	t.API = tokenAPI
	text, err := json.Marshal(t)
	if err != nil {
		return "" // cannot happen: the token is a number and two strings
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseToken(s string) (t token, err error) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, err
	}
	if t.API != tokenAPI || t.Version == 0 || t.Start == "" {
		return t, errToken
	}
	return t, nil
}
