package gotype

import "reflect"

// Realm says what programs do with a value, by its place in an object. The values in a place are in its
// realm, or in a later one.
type Realm uint8

const (
	// Open values may be shared, as far as their types allow it.
	Open Realm = iota
	// Metadata is an ObjectMeta, or a value named like one: programs write into its labels,
	// annotations, finalizers and owner references.
	Metadata
	// Managed are the managedFields of an ObjectMeta. Programs do not write into their FieldsV1.
	Managed
	// Closed values are written into by programs.
	Closed
	// Payload is Closed, and belongs to programs, such as the contents of a Secret: a transform may
	// remove it from objects, so that it must not stay in memory.
	Payload
)

// A place is a field of a name in a realm.
type place struct {
	in   Realm
	name string
	to   Realm
}

// places decide by the name of a field in JSON what objects may share, also of those without a Go type.
var places = []place{
	{Open, "metadata", Metadata}, // also that of a template, of any type
	{Metadata, "managedFields", Managed},
	{Managed, "fieldsV1", Open},
	{Open, "nodeSelector", Closed},
	{Open, "data", Payload},
	{Open, "stringData", Payload},
	{Open, "binaryData", Payload},
}

// below holds the places by realm and name.
var below = index(places)

func index(places []place) (b [Payload + 1]map[string]Realm) {
	for r := range b {
		b[r] = make(map[string]Realm)
	}
	for _, p := range places {
		b[p.in][p.name] = p.to
	}
	return b
}

// Below returns the realm of a field of a value.
func (r Realm) Below(name string) Realm {
	if to, known := below[r][name]; known {
		return to
	}
	switch {
	case IsPayload(name):
		return Payload
	case r == Metadata:
		return Closed
	}
	return r
}

// Elements returns the realm of the elements of a list.
func (r Realm) Elements() Realm {
	if r == Metadata {
		return Closed
	}
	return r
}

// IsPayload reports whether a field holds data that belongs to programs, wherever it is.
func IsPayload(name string) bool { return below[Open][name] == Payload }

// realmIn returns the realm of a field of a struct.
func realmIn(t reflect.Type, name string) Realm {
	r := Open
	if t == ObjectMeta {
		r = Metadata
	}
	return r.Below(name)
}
