package gotype

import (
	"reflect"
	"strings"
)

// Member is a JSON field of a struct, its own or that of an embedded struct.
type Member struct {
	Name  string
	Type  *Type
	Index []int // of the field
	Realm Realm // of what it holds
}

// jsonName returns the JSON name of a field, or "" if JSON ignores the field. The fields of an inlined
// struct count as fields of the outer struct.
func jsonName(f reflect.StructField) (name string, inline bool) {
	tag := f.Tag.Get("json")
	name, _, _ = strings.Cut(tag, ",")
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case tag == "-":
		return "", false
	case f.Anonymous && name == "" && t.Kind() == reflect.Struct:
		return "", f.IsExported() || f.Type.Kind() == reflect.Struct
	case !f.IsExported():
		return "", false
	case name == "":
		return f.Name, false
	}
	return name, false
}

func (d *Type) members(of func(reflect.Type) *Type) {
	flat, odd, _ := flatten(d.Go)
	d.OddJSON = odd
	for _, m := range flat {
		d.Members = append(d.Members, Member{Name: m.name, Type: of(m.field.Type), Index: m.field.Index, Realm: realmIn(m.in, m.name)})
	}
}

// member is a field with a JSON name.
type member struct {
	name  string
	field reflect.StructField
	in    reflect.Type
}

// flatten lists the fields of a struct and of its embedded structs by the simple rules of encoding/json:
// if two fields have the same name, the less deeply embedded field hides the other. A struct that needs
// the other rules is odd.
func flatten(t reflect.Type) (all []member, odd, hides bool) {
	known := make(map[string]bool)
	for level := []reflect.StructField{{Type: t}}; len(level) > 0; {
		var next []reflect.StructField
		names := make(map[string]bool)
		for _, outer := range level {
			for i := range outer.Type.NumField() {
				f := outer.Type.Field(i)
				f.Index = append(outer.Index[:len(outer.Index):len(outer.Index)], i)
				name, inline := jsonName(f)
				switch {
				case inline && f.IsExported() && f.Type.Kind() == reflect.Struct:
					next = append(next, f)
					continue
				case inline, f.Anonymous && (name == f.Name || !f.IsExported()) && f.Tag.Get("json") != "-":
					odd = true
					continue
				case name == "":
					continue
				}
				odd = odd || names[name] || isOdd(f, name)
				names[name] = true
				if known[name] {
					hides = true
					continue
				}
				known[name] = true
				all = append(all, member{name, f, outer.Type})
			}
		}
		level = next
	}
	return all, odd, hides
}

// isOdd reports whether encoding/json may ignore the name of a field, or decode the field from a string.
func isOdd(f reflect.StructField, name string) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.Contains(options, "string") || strings.ContainsFunc(name, func(r rune) bool {
		plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("$-_./:@", r)
		return !plain
	})
}
