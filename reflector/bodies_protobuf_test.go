package reflector_test

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// envelope encodes an object as kube-apiserver does.
func envelope(apiVersion, kind string, raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	data, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte("k8s\x00"), data...)
}

func (m maker) protobuf(l library, to request) []byte {
	n := m.IntN(5)
	if to == forList {
		meta := metav1.ListMeta{ResourceVersion: "30"}
		if m.IntN(4) == 1 {
			meta.Continue = "token"
		}
		pods, partial := corev1.PodList{ListMeta: meta}, metav1.PartialObjectMetadataList{ListMeta: meta}
		for i := range n {
			switch object, _ := m.object(l, i); object := object.(type) {
			case *corev1.Pod:
				pods.Items = append(pods.Items, *object)
			case *metav1.PartialObjectMetadata:
				partial.Items = append(partial.Items, *object)
			}
		}
		encode := pods.Marshal
		if !l.isPods() {
			encode = partial.Marshal
		}
		raw, err := encode()
		return m.changeEnvelope(envelope(l.apiVersion(), l.kind()+"List", raw, err))
	}
	var body []byte
	frame := func(kind, apiVersion, name string, raw []byte, err error) {
		object := m.changeEnvelope(envelope(apiVersion, name, raw, err))
		event, err := (&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}}).Marshal()
		if err != nil {
			panic(err)
		}
		if m.IntN(8) == 1 {
			event = m.changeMessage(event, 0)
		}
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(event))), event...)
	}
	for i := range n {
		kind, object, encode := m.event(l, i)
		raw, err := encode()
		of := object.GetObjectKind().GroupVersionKind()
		frame(kind, of.GroupVersion().String(), of.Kind, raw, err)
	}
	if to == forStream && m.IntN(4) > 0 {
		meta := metav1.ObjectMeta{ResourceVersion: "30", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
		raw, err := (&metav1.PartialObjectMetadata{ObjectMeta: meta}).Marshal()
		frame("BOOKMARK", l.apiVersion(), l.kind(), raw, err)
	}
	return body
}

// changeEnvelope changes an encoded object, now and then.
func (m maker) changeEnvelope(data []byte) []byte {
	for m.more() && m.IntN(3) == 1 {
		if len(data) > 4 {
			data = append([]byte("k8s\x00"), m.changeMessage(data[4:], 0)...)
		}
	}
	return data
}

// changeMessage changes one field of a protobuf message, or of one within it.
func (m maker) changeMessage(data []byte, depth int) []byte {
	type field struct {
		number protowire.Number
		kind   protowire.Type
		value  []byte // with the length of bytes
	}
	var fields []field
	for rest := data; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return data
		}
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if size < 0 {
			return data
		}
		fields = append(fields, field{number, kind, rest[n : n+size]})
		rest = rest[n+size:]
	}
	if len(fields) == 0 {
		return protowire.AppendVarint(protowire.AppendTag(nil, protowire.Number(1+m.IntN(20)), protowire.VarintType), uint64(m.IntN(300)))
	}
	i := m.IntN(len(fields))
	f := &fields[i]
	if f.kind == protowire.BytesType && m.IntN(4) > 0 && depth < 6 {
		inner, _ := protowire.ConsumeBytes(f.value)
		f.value = protowire.AppendBytes(nil, m.changeMessage(inner, depth+1))
	} else {
		switch m.IntN(7) {
		case 0:
			fields = slices.Insert(fields, m.IntN(len(fields)+1), *f)
		case 1:
			fields = slices.Delete(fields, i, i+1)
		case 2:
			j := m.IntN(len(fields))
			fields[i], fields[j] = fields[j], fields[i]
		case 3:
			f.number = protowire.Number(1 + m.IntN(20))
		case 4:
			f.kind, f.value = protowire.BytesType, protowire.AppendString(nil, m.pick("", "x", "\xff", "k8s\x00", "ns"))
		case 5:
			f.kind, f.value = protowire.VarintType, protowire.AppendVarint(nil, uint64(m.IntN(300))<<m.IntN(56))
		case 6:
			fields = slices.Insert(fields, i, field{protowire.Number(1 + m.IntN(200)), protowire.Fixed32Type, []byte{1, 2, 3, 4}})
		}
	}
	var out []byte
	for _, f := range fields {
		out = append(protowire.AppendTag(out, f.number, f.kind), f.value...)
	}
	return out
}
