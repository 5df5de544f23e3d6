package gotype

import "reflect"

// Realm says what programs do with a value, judging by its place in an object. Values inside it are in
// the same realm or in a later one.
type Realm uint8

const (
	// Open values may be shared, if their types allow it.
	Open Realm = iota
	// Metadata is an ObjectMeta, or a value with the name of one. Programs write into its labels,
	// annotations, finalizers and owner references.
	Metadata
	// Managed is the managedFields of an ObjectMeta. Programs do not write into their FieldsV1.
	Managed
	// Closed is for values that programs write into.
	Closed
	// Payload is like Closed, for data that belongs to programs, such as the contents of a Secret. A
	// transform may remove it from objects. Then it must not stay in memory.
	Payload
)

// A place is a field name in a realm.
type place struct {
	in   Realm
	name string
	to   Realm
}

// places decide by JSON field names what objects may share. They also apply to unstructured objects.
var places = []place{
	{Open, "metadata", Metadata}, // also the metadata of a template, whatever its type
	{Metadata, "managedFields", Managed},
	{Managed, "fieldsV1", Open},
	{Open, "nodeSelector", Closed},
	{Open, "data", Payload},
	{Open, "stringData", Payload},
	{Open, "binaryData", Payload},
}

// below indexes places by realm and name.
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

// IsPayload reports whether a field holds data that belongs to programs, wherever the field is.
func IsPayload(name string) bool { return below[Open][name] == Payload }

// realmIn returns the realm of a field of a struct.
func realmIn(t reflect.Type, name string) Realm {
	r := Open
	if t == ObjectMeta {
		r = Metadata
	}
	return r.Below(name)
}
