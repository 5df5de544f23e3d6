package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// protobufList reads the items of a list in protobuf as they arrive. In all lists, metadata is field 1,
// and items is field 2.
type protobufList struct {
	in       *bufio.Reader
	state    protobufListState
	left     uint64 // remaining bytes of the list
	listHead ListHead
	kind     runtime.TypeMeta // a repeated message changes only its own fields
	meta     metav1.ListMeta  // a repeated message changes only its own fields
	scratch  []byte
}

// protobufListState is the part of the envelope that comes next.
type protobufListState uint8

const (
	beforeMagic protobufListState = iota
	beforeList                    // in the envelope, before the list itself
	inList
	behindList
)

func newProtobufList(in *bufio.Reader) *protobufList { return &protobufList{in: in} }

func (l *protobufList) head() ListHead { return l.listHead }

func (l *protobufList) next() (item, error) {
	for {
		var err error
		switch l.state {
		case beforeMagic:
			_, err = l.in.Discard(len(magic))
			l.state = beforeList
		case inList:
			if l.left == 0 {
				l.state = behindList
				continue
			}
			data, ok, failed := l.listField()
			if ok {
				return item{event: watch.Added, format: formatProtobuf, data: data}, nil
			}
			err = failed
		default:
			err = l.envelopeField()
		}
		if err != nil {
			return item{}, err
		}
	}
}

// envelopeField reads a field of the envelope. It returns io.EOF if the body ends after the list.
func (l *protobufList) envelopeField() error {
	if _, err := l.in.Peek(1); errors.Is(err, io.EOF) {
		if l.state == beforeList {
			return errNoList
		}
		return io.EOF
	}
	left := uint64(math.MaxUint64)
	number, length, err := l.field(&left, unknownFields)
	if err != nil {
		return err
	}
	if number == unknownRaw {
		if l.state == behindList {
			return fmt.Errorf("%w: two lists in one answer", ErrBadAnswer)
		}
		l.state, l.left, l.listHead.hasItems = inList, length, true
		return nil
	}
	value, err := l.read(length)
	if err != nil || number != unknownType {
		return err
	}
	if err := l.kind.Unmarshal(value); err != nil {
		return fmt.Errorf("%w: list kind: %w", ErrBadAnswer, err)
	}
	l.listHead.TypeMeta = metav1.TypeMeta{APIVersion: l.kind.APIVersion, Kind: l.kind.Kind}
	return nil
}

// listField reads a field of the list. If it is an item, listField returns it.
func (l *protobufList) listField() (data []byte, ok bool, err error) {
	number, length, err := l.field(&l.left, listFields)
	if err != nil {
		return nil, false, err
	}
	if length > l.left {
		return nil, false, errTruncated
	}
	l.left -= length
	value, err := l.read(length)
	switch {
	case err != nil:
		return nil, false, err
	case number == listItem:
		return value, true, nil
	case number == listMetadata:
		m := &l.meta
		if err := m.Unmarshal(value); err != nil {
			return nil, false, fmt.Errorf("%w: list metadata: %w", ErrBadAnswer, err)
		}
		l.listHead.Version, l.listHead.Continue, l.listHead.Remaining = m.ResourceVersion, m.Continue, m.RemainingItemCount
	}
	return nil, false, nil
}

// field reads the number of a field and the length of its value, and subtracts both from left. Fields up
// to known are strings or messages. Other fields may have any type except a group.
func (l *protobufList) field(left *uint64, known protowire.Number) (number protowire.Number, length uint64, err error) {
	tag, err := l.varint(left)
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(tag)
	switch {
	case number > 0 && kind == protowire.BytesType:
		length, err = l.varint(left)
	case number > known && kind == protowire.VarintType:
		_, err = l.varint(left)
	case number > known && kind == protowire.Fixed32Type:
		length = 4
	case number > known && kind == protowire.Fixed64Type:
		length = 8
	default:
		err = fmt.Errorf("%w: field %d of type %d in a list", ErrBadAnswer, number, kind)
	}
	return number, length, err
}

func (l *protobufList) varint(left *uint64) (uint64, error) {
	v, n := uint64(0), 0
	for ; n < binary.MaxVarintLen64; n++ {
		b, err := l.in.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		if *left == 0 {
			return 0, errTruncated
		}
		*left--
		v |= uint64(b&0x7f) << (7 * n)
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%w: a number of more than 64 bits in a list", ErrBadAnswer)
}

// read returns the next bytes of the body. They are valid until the next call.
func (l *protobufList) read(n uint64) ([]byte, error) {
	return readBytes(l.in, &l.scratch, n)
}
