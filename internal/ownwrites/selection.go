package ownwrites

import (
	"maps"
	"net/url"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Selection says which objects of a resource and namespace a list or watch returns.
type Selection struct {
	text    string // the selecting part of the query
	labels  labels.Selector
	fields  fields.Requirements
	unclear bool // the query may exclude more objects
}

// passing are the parameters of a list or watch that do not select objects.
var passing = []string{
	"resourceVersion", "resourceVersionMatch", "limit", "continue", "watch", "timeoutSeconds", "timeout", "allowWatchBookmarks",
	"sendInitialEvents", "pretty",
}

// ReadSelection reads the query of a list or watch. An unknown parameter may select objects, too. The
// selector of the source's own share is ignored, because the sink knows the share.
func ReadSelection(query url.Values, share string) Selection {
	var err error
	s := Selection{labels: labels.Everything()}
	query = maps.Clone(query)
	for _, name := range passing {
		query.Del(name)
	}
	if by := query["shardSelector"]; len(by) == 1 && by[0] == share {
		query.Del("shardSelector")
	}
	s.text = query.Encode()
	for name, values := range query {
		switch {
		case len(values) != 1:
			s.unclear = true
		case name == "labelSelector":
			if s.labels, err = labels.Parse(values[0]); err != nil {
				s.labels, s.unclear = labels.Everything(), true
			}
		case name == "fieldSelector":
			f, err := fields.ParseSelector(values[0])
			if s.unclear = s.unclear || err != nil; err == nil {
				s.fields = f.Requirements()
			}
		default:
			s.unclear = true
		}
	}
	return s
}

// Selects reports whether the list or watch may exclude objects.
func (s Selection) Selects() bool { return s.unclear || !s.labels.Empty() || len(s.fields) > 0 }

// And returns the selection of a source that has also sent requests with another selection.
func (s Selection) And(other Selection) Selection {
	if s.text != other.text {
		return Selection{text: s.text, labels: labels.Everything(), unclear: true}
	}
	return s
}

// Scope reports whether an object is selected.
func (s Selection) Scope(key indexer.Key, of map[string]string) Scope {
	if !s.labels.Matches(labels.Set(of)) {
		return Outside
	}
	unclear := s.unclear
	for _, f := range s.fields {
		value := key.Name
		switch f.Field {
		case "metadata.name":
		case "metadata.namespace":
			value = key.Namespace
		default:
			unclear = true
			continue
		}
		if (value == f.Value) == (f.Operator == selection.NotEquals) {
			return Outside
		}
	}
	if unclear {
		return Unknown
	}
	return Inside
}
