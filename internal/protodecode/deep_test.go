package protodecode

import (
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// deep is a message that contains itself, like the schema of a CRD. It also has fields of kinds that no
// built-in type has. Its methods do what generated code would.
type deep struct {
	Below  *deep           `json:"below,omitempty" protobuf:"bytes,1,opt,name=below"`
	List   []deep          `json:"list,omitempty" protobuf:"bytes,2,rep,name=list"`
	Named  map[string]deep `json:"named,omitempty" protobuf:"bytes,3,rep,name=named"`
	Most   *float64        `json:"most,omitempty" protobuf:"bytes,4,opt,name=most"`
	Ratio  float32         `json:"ratio,omitempty" protobuf:"fixed32,5,opt,name=ratio"`
	Title  string          `json:"title,omitempty" protobuf:"bytes,300,opt,name=title"`
	Checks []bool          `json:"checks,omitempty" protobuf:"varint,17,rep,name=checks"`
}

// Marshal encodes the message.
func (m *deep) Marshal() ([]byte, error) {
	var b []byte
	nested := func(number protowire.Number, m *deep) {
		inner, _ := m.Marshal()
		b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), inner)
	}
	if m.Below != nil {
		nested(1, m.Below)
	}
	for i := range m.List {
		nested(2, &m.List[i])
	}
	for key, value := range m.Named {
		inner, _ := value.Marshal()
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key)
		entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), inner)
		b = protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), entry)
	}
	if m.Most != nil {
		b = protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), math.Float64bits(*m.Most))
	}
	b = protowire.AppendFixed32(protowire.AppendTag(b, 5, protowire.Fixed32Type), math.Float32bits(m.Ratio))
	b = protowire.AppendString(protowire.AppendTag(b, 300, protowire.BytesType), m.Title)
	for _, c := range m.Checks {
		b = protowire.AppendVarint(protowire.AppendTag(b, 17, protowire.VarintType), protowire.EncodeBool(c))
	}
	return b, nil
}

// Unmarshal decodes the message like generated code.
func (m *deep) Unmarshal(data []byte) error {
	for len(data) > 0 {
		number, wire, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, wire, data[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := m.field(number, wire, data[n:n+size]); err != nil {
			return err
		}
		data = data[n+size:]
	}
	return nil
}

var errWire = errors.New("wrong wire type")

func (m *deep) field(number protowire.Number, wire protowire.Type, value []byte) error {
	if number == 17 {
		return m.checks(wire, value)
	}
	want, known := map[protowire.Number]protowire.Type{
		1: protowire.BytesType, 2: protowire.BytesType, 3: protowire.BytesType, 4: protowire.Fixed64Type, 5: protowire.Fixed32Type, 300: protowire.BytesType,
	}[number]
	if !known {
		return nil
	}
	if wire != want {
		return errWire
	}
	b, _ := protowire.ConsumeBytes(value)
	switch number {
	case 1:
		if m.Below == nil {
			m.Below = &deep{}
		}
		return m.Below.Unmarshal(b)
	case 2:
		m.List = append(m.List, deep{})
		return m.List[len(m.List)-1].Unmarshal(b)
	case 3:
		return m.named(b)
	case 4:
		v, _ := protowire.ConsumeFixed64(value)
		m.Most = new(math.Float64frombits(v))
	case 5:
		v, _ := protowire.ConsumeFixed32(value)
		m.Ratio = math.Float32frombits(v)
	case 300:
		m.Title = string(b)
	}
	return nil
}

func (m *deep) checks(wire protowire.Type, value []byte) error {
	if wire == protowire.VarintType {
		v, _ := protowire.ConsumeVarint(value)
		m.Checks = append(m.Checks, v != 0)
		return nil
	}
	if wire != protowire.BytesType {
		return errWire
	}
	b, _ := protowire.ConsumeBytes(value)
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		m.Checks, b = append(m.Checks, v != 0), b[n:]
	}
	return nil
}

func (m *deep) named(entry []byte) error {
	key, value := "", deep{}
	for len(entry) > 0 {
		number, wire, n := protowire.ConsumeTag(entry)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, wire, entry[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		b, _ := protowire.ConsumeBytes(entry[n:])
		switch {
		case number > 2:
		case wire != protowire.BytesType:
			return errWire
		case number == 1:
			key = string(b)
		default:
			value = deep{}
			if err := value.Unmarshal(b); err != nil {
				return err
			}
		}
		entry = entry[n+size:]
	}
	if m.Named == nil {
		m.Named = make(map[string]deep)
	}
	m.Named[key] = value
	return nil
}
