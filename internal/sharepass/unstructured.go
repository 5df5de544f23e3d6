package sharepass

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// The kinds of untyped values in an encoding.
const (
	tagNil byte = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagString
	tagMap
	tagNilMap
	tagList
	tagNilList
)

// spot holds the sites for a key: of its values, and of the elements of its lists.
type spot struct{ value, element share.Site }

// mostSpots limits the number of keys with sites of their own. Objects may have any keys, and sites are
// never freed.
const mostSpots = 1 << 11

var (
	otherKeys = spot{share.NewSite(), share.NewSite()}

	spots struct {
		mu    sync.Mutex
		byKey map[string]spot
	}
)

// spot returns the sites for a key. A walk calls it once for each key.
func (w *walk) spot(key string) spot {
	s, known := w.spots[key]
	if !known {
		s = spotOf(key)
		if w.spots == nil {
			w.spots = make(map[string]spot)
		}
		if s != otherKeys {
			w.spots[key] = s
		}
	}
	return s
}

func spotOf(key string) spot {
	spots.mu.Lock()
	defer spots.mu.Unlock()

	s, known := spots.byKey[key]
	switch {
	case known:
		return s
	case len(spots.byKey) >= mostSpots:
		return otherKeys
	case spots.byKey == nil:
		spots.byKey = make(map[string]spot)
	}
	key = strings.Clone(key)
	s = spot{share.NewSite(), share.NewSite()}
	spots.byKey[key] = s
	return s
}

// value encodes an untyped value. A map or a list becomes the node n.
func (w *walk) value(v any, n node, s spot, in gotype.Realm) (apart bool) {
	switch x := v.(type) {
	case nil:
		w.buf = append(w.buf, tagNil)
	case bool:
		tag := tagFalse
		if x {
			tag = tagTrue
		}
		w.buf = append(w.buf, tag)
	case int64:
		w.buf = binary.AppendVarint(append(w.buf, tagInt), x)
	case float64:
		w.buf = binary.BigEndian.AppendUint64(append(w.buf, tagFloat), math.Float64bits(x))
	case string:
		w.buf = append(w.buf, tagString)
		w.string(x)
	case map[string]any:
		return w.object(x, n, in)
	case []any:
		return w.list(x, n, s, in)
	default:
		return true
	}
	return false
}

// object encodes a map. The root map and an ObjectMeta are not shared.
func (w *walk) object(m map[string]any, n node, in gotype.Realm) (apart bool) {
	if m == nil {
		w.buf = append(w.buf, tagNilMap)
		return in != gotype.Open
	}
	n.value, n.apart = reflect.ValueOf(m), in != gotype.Open || len(w.nodes) == 0
	i := w.begin(n)
	w.buf = append(w.buf, tagMap)
	w.number(len(m))
	first := len(w.entries)
	for k := range m {
		w.entries = append(w.entries, entry{key: k})
	}
	entries := w.entries[first:]
	slices.SortFunc(entries, byKey)
	for _, e := range entries {
		if w.failed {
			break
		}
		if w.field(e.key, m[e.key], in) {
			apart = true
		}
	}
	w.entries = w.entries[:first]
	w.end(i, apart)
	return apart || n.apart
}

// field encodes an entry of a map. If the value is not shared, field enters it only on the way to a
// FieldsV1.
func (w *walk) field(key string, v any, in gotype.Realm) (apart bool) {
	if !container(v) {
		if in == gotype.Open {
			w.string(key)
			return w.value(v, node{}, spot{}, in)
		}
		return true
	}
	if in = in.Below(key); in >= gotype.Closed {
		return true
	}
	w.string(key)
	s := w.spot(key)
	return w.value(v, node{site: s.value, key: key}, s, in)
}

func (w *walk) list(l []any, n node, s spot, in gotype.Realm) (apart bool) {
	if l == nil {
		w.buf = append(w.buf, tagNilList)
		return in != gotype.Open
	}
	n.value, n.apart = reflect.ValueOf(l), in != gotype.Open || len(l) == 0
	i := w.begin(n)
	w.buf = append(w.buf, tagList)
	w.number(len(l))
	of := in.Elements()
	for e, v := range l {
		if w.failed {
			break
		}
		if w.value(v, node{site: s.element, elem: e}, s, of) {
			apart = true
		}
	}
	w.end(i, apart)
	return apart || in != gotype.Open
}

func container(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
