package main

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// decoded is how many objects a row decodes, at most.
const decoded = 8000

// decode makes of bytes an object, a *corev1.PodList, or the pods of a list.
type decode func(data []byte) (any, error)

// decoding is bytes as a server sends them, and a decoder of either kind.
type decoding struct {
	bodies [][]byte
	each   int // objects in a body
	theirs decode
	// ours returns a decoder that has not seen an object yet, and what tells how
	// many objects it has left to another one.
	ours func() (of decode, left func() uint64)
}

// decodes is work that decodes one half of some bytes, by one goroutine; what is
// compared is the CPU time. The other half comes before, and is not measured:
// from it tidemark knows what the objects have in common, as it does from the
// list that comes before a watch. Each run has a decoder of its own, which
// decodes each of the bytes once.
func decodes(of func(objects int) (decoding, error)) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		d, err := of(min(decoded, c.objects))
		if err == nil {
			err = d.agree()
		}
		return func(i implementation) (contender, error) {
			if i == clientgo {
				return contender{run: func(m *meter) (sample, error) { return d.measure(m, d.theirs) }}, nil
			}
			return contender{run: d.measureOurs}, nil
		}, err
	}
}

func (d decoding) measureOurs(m *meter) (sample, error) {
	of, left := d.ours()
	s, err := d.measure(m, of)
	if n := left(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %d objects", errLeft, n))
	}
	return s, err
}

func (d decoding) measure(m *meter, of decode) (sample, error) {
	half := len(d.bodies) / 2
	if _, err := d.all(d.bodies[:half], of); err != nil {
		return sample{}, err
	}
	last := d.bodies[half:]
	measured, err := m.section(len(last)*d.each, func() error {
		objects, err := d.all(last, of)
		return wrong(objects, len(last)*d.each, err)
	})
	measured.value = measured.cpu
	return measured, err
}

// all decodes bodies and drops the objects, of which it returns the number.
func (d decoding) all(bodies [][]byte, of decode) (objects int, err error) {
	for _, data := range bodies {
		made, err := of(data)
		if err != nil {
			return objects, err
		}
		objects += number(made)
	}
	return objects, nil
}

// number is how many objects a decoder has made.
func number(made any) int {
	switch made := made.(type) {
	case *corev1.PodList:
		return len(made.Items)
	case []*corev1.Pod:
		return len(made)
	}
	return 1
}

// agree tells whether both decoders make the same objects.
func (d decoding) agree() error {
	of, _ := d.ours()
	for _, data := range d.bodies {
		theirs, err := d.theirs(data)
		if err != nil {
			return err
		}
		ours, err := of(data)
		if err != nil {
			return err
		}
		if list, ok := theirs.(*corev1.PodList); ok {
			theirs = pointers(list)
		}
		if !equality.Semantic.DeepEqual(theirs, ours) {
			return errUnlike
		}
	}
	return nil
}

func pointers(list *corev1.PodList) []*corev1.Pod {
	all := make([]*corev1.Pod, len(list.Items))
	for i := range all {
		all[i] = &list.Items[i]
	}
	return all
}
