package reflector_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// maker makes answers: valid ones that are changed in a few places.
type maker struct {
	*rand.Rand
	more func() bool
}

func (m maker) pick(from ...string) string { return from[m.IntN(len(from))] }

// upTo returns a number below n, small ones more often.
func (m maker) upTo(n int) int { return m.IntN(1 + m.IntN(n)) }

// odd are texts where a JSON value should stand.
var odd = []string{
	`null`, `{}`, `[]`, `""`, `0`, `-1`, `1e3`, `1e400`, `1.5`, `9223372036854775808`, `true`, `"x"`, `"\u0000"`, `"\ud83d"`, `"a\"b"`, "\"\xff\"", "\"\n\"",
	`[[]]`, `[{}]`, `{"":{}}`, `{"a":1,"a":2}`, `[null]`, `[null,{}]`, `"2020-01-01T00:00:00Z"`, `{"name":"a"}`, `{"metadata":{"name":"n"}}`, `{"resourceVersion":"4"}`,
	`{"resourceVersion":4}`, `01`, `NaN`, `'a'`, `[1,]`, `{"a":1,}`, `[`, `{`, `]`, `}`, `[}`, `{]`, `"`, `nul`, `truefalse`, `1 2`, ``,
}

var names = []string{
	"kind", "apiVersion", "metadata", "items", "type", "object", "resourceVersion", "uid", "name", "namespace", "continue", "remainingItemCount", "selfLink", "labels",
	"annotations", "managedFields", "deletionTimestamp", "creationTimestamp", "generation", "spec", "status", "data", "Metadata", "KIND", "Items", "", "a", "\\u006bind", "\xff",
}

// node is a JSON value with its members in their order.
type node struct {
	open string // "{", "[" or the text of a scalar
	keys []string
	kids []*node
}

func parse(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	switch token {
	case json.Delim('{'), json.Delim('['):
		n := &node{open: fmt.Sprint(token)}
		for d.More() {
			key := ""
			if n.open == "{" {
				name, err := d.Token()
				if err != nil {
					panic(err)
				}
				text, err := json.Marshal(name)
				if err != nil {
					panic(err)
				}
				key = strings.Trim(string(text), `"`)
			}
			n.keys, n.kids = append(n.keys, key), append(n.kids, parse(d))
		}
		if _, err := d.Token(); err != nil {
			panic(err)
		}
		return n
	}
	text, err := json.Marshal(token)
	if err != nil {
		panic(err)
	}
	return &node{open: string(text)}
}

// all returns the node and those below it.
func (n *node) all() []*node {
	nodes := []*node{n}
	for _, k := range n.kids {
		nodes = append(nodes, k.all()...)
	}
	return nodes
}

func (m maker) print(b *strings.Builder, n *node) {
	space := func() {
		if m.IntN(16) == 1 {
			b.WriteString(m.pick(" ", "\n", "\t ", "\r\n"))
		}
	}
	b.WriteString(n.open)
	for i, k := range n.kids {
		if i > 0 {
			b.WriteString(",")
		}
		space()
		if n.open == "{" {
			b.WriteString(`"` + n.keys[i] + `"`)
			space()
			b.WriteString(":")
		}
		m.print(b, k)
		space()
	}
	switch n.open {
	case "{":
		b.WriteString("}")
	case "[":
		b.WriteString("]")
	}
}

// change changes one member of one node.
func (m maker) change(root *node) {
	nodes := root.all()
	n := nodes[m.IntN(len(nodes))]
	if len(n.kids) == 0 {
		n.open, n.kids = m.pick(odd...), nil
		return
	}
	i := m.IntN(len(n.kids))
	switch m.IntN(7) {
	case 0:
		at := m.IntN(len(n.kids) + 1)
		n.keys, n.kids = slices.Insert(n.keys, at, n.keys[i]), slices.Insert(n.kids, at, n.kids[i])
	case 1:
		n.keys, n.kids = slices.Delete(n.keys, i, i+1), slices.Delete(n.kids, i, i+1)
	case 2:
		j := m.IntN(len(n.kids))
		n.keys[i], n.keys[j], n.kids[i], n.kids[j] = n.keys[j], n.keys[i], n.kids[j], n.kids[i]
	case 3:
		n.kids[i] = &node{open: m.pick(odd...)}
	case 4:
		if other := nodes[m.IntN(len(nodes))]; !slices.Contains(other.all(), n) {
			n.kids[i] = other
		}
	case 5:
		n.keys[i] = m.pick(names...)
	case 6:
		at := m.IntN(len(n.kids) + 1)
		n.keys, n.kids = slices.Insert(n.keys, at, m.pick(names...)), slices.Insert(n.kids, at, &node{open: m.pick(odd...)})
	}
}

// longestScrambled bounds the bytes that scramble makes longer: an input may ask for it a thousand times.
const longestScrambled = 64 << 10

// scramble changes bytes without regard for what they mean.
func (m maker) scramble(body []byte) []byte {
	if len(body) == 0 || len(body) > longestScrambled {
		return body
	}
	i := m.IntN(len(body))
	j := min(i+1+m.upTo(64), len(body))
	switch m.IntN(6) {
	case 0:
		return body[:i]
	case 1:
		return slices.Concat(body[:j], body[i:j], body[j:])
	case 2:
		return slices.Concat(body[:i], body[j:])
	case 3:
		return slices.Concat(body[:i], []byte(m.pick(odd...)), body[i:])
	case 4:
		body = slices.Clone(body)
		body[i] ^= byte(1 << m.IntN(8))
		return body
	}
	return slices.Concat(body, body[i:])
}

// object returns an object of a library's kind.
func (m maker) object(l library, i int) (object runtime.Object, encode func() ([]byte, error)) {
	pod := kit.RunningPod("web", m.IntN(3))
	if m.IntN(16) != 1 {
		pod = &corev1.Pod{Spec: corev1.PodSpec{NodeName: m.pick("", "node"), Containers: []corev1.Container{{Name: "c"}}}}
	}
	pod.Namespace, pod.Name, pod.UID = "ns", fmt.Sprint("pod-", i), types.UID(fmt.Sprint("u-", i))
	pod.ResourceVersion = fmt.Sprint(10 + i)
	if _, partial := l.object.(*metav1.PartialObjectMetadata); partial {
		p := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}, ObjectMeta: pod.ObjectMeta}
		return p, p.Marshal
	}
	pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	return pod, pod.Marshal
}

// event returns the object of an event of some type.
func (m maker) event(l library, i int) (kind string, object runtime.Object, encode func() ([]byte, error)) {
	kind = m.pick("ADDED", "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "ODD")
	if kind == "ERROR" && m.IntN(2) == 0 {
		s := &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReason(m.pick("Expired", "Other")), Code: int32(m.IntN(2) * 410)}
		return kind, s, s.Marshal
	}
	if kind == "ODD" {
		kind = m.pick("", "added", "X", "ERROR")
	}
	if kind == "BOOKMARK" {
		b := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: l.kind(), APIVersion: l.apiVersion()}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: fmt.Sprint(10 + i)}}
		return kind, b, b.Marshal
	}
	object, encode = m.object(l, m.IntN(i+1))
	return kind, object, encode
}

// answer makes an answer for a library.
func (m maker) answer(l library) *answer {
	a := &answer{to: request(m.pick(string(forList), string(forWatch), string(forStream))), strict: m.IntN(2) == 0}
	if l.protobuf && m.IntN(2) == 0 {
		a.contentType = runtime.ContentTypeProtobuf
		a.body = m.protobuf(l, a.to)
	} else {
		a.contentType = runtime.ContentTypeJSON
		a.body = m.json(l, a.to)
	}
	for m.more() && m.IntN(4) == 1 {
		a.body = m.scramble(a.body)
	}
	for m.more() && m.IntN(3) == 1 {
		a.flushes = append(a.flushes, 1+m.upTo(256))
	}
	a.cut = m.IntN(16) == 1
	return a
}

func (m maker) json(l library, to request) []byte {
	var roots []*node
	add := func(value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		roots = append(roots, parse(d))
	}
	n := m.IntN(5)
	if to == forList {
		items := []runtime.Object{}
		for i := range n {
			object, _ := m.object(l, i)
			items = append(items, object)
		}
		kind := items
		list := map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "30"}, "items": kind}
		if !l.isPods() {
			list["kind"], list["apiVersion"] = "PartialObjectMetadataList", "meta.k8s.io/v1"
		}
		if m.IntN(4) == 1 {
			list["metadata"].(map[string]any)["continue"] = "token"
		}
		add(list)
	} else {
		for i := range n {
			kind, object, _ := m.event(l, i)
			add(map[string]any{"type": kind, "object": object})
		}
		if to == forStream && m.IntN(4) > 0 {
			end := map[string]any{"resourceVersion": "30", "annotations": map[string]any{metav1.InitialEventsAnnotationKey: "true"}}
			add(map[string]any{"type": "BOOKMARK", "object": map[string]any{"kind": l.kind(), "apiVersion": l.apiVersion(), "metadata": end}})
		}
	}
	for m.more() && m.IntN(3) > 0 && len(roots) > 0 {
		m.change(roots[m.IntN(len(roots))])
	}
	var b strings.Builder
	for _, root := range roots {
		m.print(&b, root)
		b.WriteString(m.pick("\n", "\n", "\n", "", " "))
	}
	return []byte(b.String())
}

func (l library) isPods() bool { return l.kind() == "Pod" }

func (l library) kind() string {
	if _, partial := l.object.(*metav1.PartialObjectMetadata); partial {
		return "PartialObjectMetadata"
	}
	return "Pod"
}

func (l library) apiVersion() string {
	if l.isPods() {
		return "v1"
	}
	return "meta.k8s.io/v1"
}
