package protodecode

import (
	"reflect"
	"unsafe"
)

// mostHinted limits the initial size of a map, because all entries may have the same key.
const mostHinted = 64

// pair splits a map entry into its key and its value. Either may be missing. An entry with any other
// field is odd.
func pair(entry []byte) (key, value []byte, ok bool) {
	for i := 0; i < len(entry); {
		start, end := content(entry, i+1)
		if end < 0 {
			return nil, nil, false
		}
		switch {
		case entry[i] == 1<<3|wireBytes && key == nil:
			key = entry[start:end]
		case entry[i] == 2<<3|wireBytes && value == nil:
			value = entry[start:end]
		default:
			return nil, nil, false
		}
		i = end
	}
	return key, value, true
}

func (w *walk) stringMap(f *field, dst unsafe.Pointer, region []byte, n int) bool {
	made := make(map[string]string, min(n, mostHinted))
	w.size += mapSize(n, 2*unsafe.Sizeof(""))
	for at := 0; at < len(region); {
		var entry []byte
		entry, at = f.entry(region, at)
		key, value, ok := pair(entry)
		if !ok {
			return false
		}
		if f.leavesOut(key) {
			continue
		}
		made[w.string(f, f.keys, key)] = w.string(f, f.strings, value)
	}
	*(*map[string]string)(dst) = made
	return true
}

func (w *walk) bytesMap(f *field, dst unsafe.Pointer, region []byte, n int) bool {
	made := make(map[string][]byte, min(n, mostHinted))
	w.size += mapSize(n, unsafe.Sizeof("")+unsafe.Sizeof([]byte{}))
	for at := 0; at < len(region); {
		var entry []byte
		entry, at = f.entry(region, at)
		key, value, ok := pair(entry)
		if !ok {
			return false
		}
		if f.leavesOut(key) {
			continue
		}
		w.size += len(value)
		made[w.string(f, f.keys, key)] = clone(value)
	}
	*(*map[string][]byte)(dst) = made
	return true
}

// leavesOut reports whether the map entry with this key is dropped.
func (f *field) leavesOut(key []byte) bool {
	if f.drop == nil {
		return false
	}
	_, leftOut := f.drop.Of(string(key))
	return leftOut
}

// anyMap decodes into a map of any type.
func (w *walk) anyMap(f *field, dst unsafe.Pointer, region []byte, n int) bool {
	made := reflect.MakeMapWithSize(f.typ, min(n, mostHinted))
	w.size += mapSize(n, unsafe.Sizeof("")+f.elem.Size())
	var key, elem reflect.Value
	if f.sub != nil && f.sub.form == formQuantity {
		key, elem = reflect.NewAt(f.typ.Key(), unsafe.Pointer(&w.key)).Elem(), reflect.ValueOf(&w.quantity).Elem()
	} else {
		key, elem = reflect.New(f.typ.Key()).Elem(), reflect.New(f.elem).Elem()
	}
	for at := 0; at < len(region); {
		var entry []byte
		entry, at = f.entry(region, at)
		k, v, ok := pair(entry)
		if !ok {
			return false
		}
		key.SetString(w.string(f, f.keys, k))
		if !w.element(f, elem, v) {
			return false
		}
		made.SetMapIndex(key, elem)
	}
	reflect.NewAt(f.typ, dst).Elem().Set(made)
	return true
}

// element decodes the value of a map entry. A missing value becomes an empty one.
func (w *walk) element(f *field, elem reflect.Value, b []byte) bool {
	if f.sub == nil {
		elem.SetString(w.string(f, f.strings, b))
		return true
	}
	elem.SetZero()
	dst := elem.Addr().UnsafePointer()
	f.sub.empty(dst)
	return b == nil || w.value(f.sub, dst, b)
}

// mapSize estimates the memory of a map.
func mapSize(n int, entry uintptr) int {
	return 48 + n*(int(entry)+2) //nolint:gosec // small
}
