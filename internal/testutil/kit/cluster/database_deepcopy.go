package cluster

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyObject makes Database a runtime.Object.
func (d *Database) DeepCopyObject() runtime.Object { return d.DeepCopy() }

// DeepCopy returns a copy that shares no memory with d.
func (d *Database) DeepCopy() *Database {
	twin := &Database{TypeMeta: d.TypeMeta}
	d.DeepCopyInto(&twin.ObjectMeta)
	twin.Spec, twin.Status = d.Spec.deepCopy(), d.Status.deepCopy()
	return twin
}

// DeepCopyObject makes DatabaseList a runtime.Object.
func (l *DatabaseList) DeepCopyObject() runtime.Object {
	twin := &DatabaseList{TypeMeta: l.TypeMeta, Items: make([]Database, len(l.Items))}
	l.DeepCopyInto(&twin.ListMeta)
	for i := range l.Items {
		twin.Items[i] = *l.Items[i].DeepCopy()
	}
	return twin
}

func (s DatabaseSpec) deepCopy() DatabaseSpec {
	s.Storage.Threshold, s.Paused = pointed(s.Storage.Threshold), pointed(s.Paused)
	s.Resources = Resources{maps.Clone(s.Resources.Requests), maps.Clone(s.Resources.Limits)}
	s.Parameters = maps.Clone(s.Parameters)
	s.Users = slices.Clone(s.Users)
	for i := range s.Users {
		u := &s.Users[i]
		u.Roles, u.ConnectionLimit = slices.Clone(u.Roles), pointed(u.ConnectionLimit)
	}
	s.Schemas = slices.Clone(s.Schemas)
	for i := range s.Schemas {
		s.Schemas[i].Extensions = slices.Clone(s.Schemas[i].Extensions)
	}
	s.Backup = pointed(s.Backup)
	s.Network.DNSNames, s.Network.AllowedSources = slices.Clone(s.Network.DNSNames), slices.Clone(s.Network.AllowedSources)
	s.Placement = Placement{slices.Clone(s.Placement.Zones), maps.Clone(s.Placement.NodeSelector), slices.Clone(s.Placement.Tolerations)}
	if s.Monitoring = pointed(s.Monitoring); s.Monitoring != nil {
		s.Monitoring.Labels, s.Monitoring.Alerts = maps.Clone(s.Monitoring.Labels), slices.Clone(s.Monitoring.Alerts)
	}
	return s
}

// deepCopy copies times by value, because a time.Time never changes.
func (s DatabaseStatus) deepCopy() DatabaseStatus {
	s.Members, s.Conditions = slices.Clone(s.Members), slices.Clone(s.Conditions)
	s.LastBackup = pointed(s.LastBackup)
	return s
}

// pointed copies the value that a pointer points to.
func pointed[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
