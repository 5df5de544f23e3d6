package informertest

import (
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/sharding"
)

// selection describes the objects of a collection that a request selects.
type selection struct {
	*collection
	prefix string
	labels labels.Selector
	fields fields.Selector
	shards sharding.Selector
}

// query reads the options that lists and watches have in common. kube-apiserver's own code validates the
// other options and sets their defaults.
func (m *model) query(r schema.GroupVersionResource, namespace string, o *internalversion.ListOptions) (selection, error) {
	c, err := m.collection(r, namespace)
	if err != nil {
		return selection{}, err
	}
	internalversion.SetListOptionsDefaults(o, !m.noWatchList)
	if problems := validation.ValidateListOptions(o, !m.noWatchList); len(problems) > 0 {
		return selection{}, errInvalidOptions(problems)
	}
	s := selection{collection: c, prefix: prefix(namespace), labels: o.LabelSelector, fields: o.FieldSelector}
	if s.labels == nil {
		s.labels = labels.Everything()
	}
	if s.fields == nil {
		s.fields = fields.Everything()
	}
	known := c.kind.fieldsOf(c.kind.object)
	for _, r := range s.fields.Requirements() {
		if !known.Has(r.Field) {
			return selection{}, errUnknownField(c.kind, r.Field)
		}
	}
	s.shards, err = m.shardsOf(o.ShardSelector)
	return s, err
}

// everything reports whether the request has no selectors.
func (s selection) everything() bool { return s.labels.Empty() && s.fields.Empty() && s.shards.Empty() }

func (s selection) matches(obj apiObject) bool {
	return s.labels.Matches(labels.Set(obj.GetLabels())) &&
		(s.fields.Empty() || s.fields.Matches(s.kind.fieldsOf(obj))) && s.inShards(obj)
}
