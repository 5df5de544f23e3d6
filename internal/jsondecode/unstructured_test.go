package jsondecode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// decoders returns a decoder for each set of options.
func decoders() map[string]*Unstructured {
	return map[string]*Unstructured{
		"unshared": NewUnstructured(Options{}),
		"strings":  NewUnstructured(Options{Table: share.New(0)}),
		"values":   NewUnstructured(Options{Table: share.New(0), Values: true}),
	}
}

// sameUnstructured decodes data several times with each decoder, and compares the results with
// apimachinery's.
func sameUnstructured(t *testing.T, decoders map[string]*Unstructured, data string) {
	t.Helper()
	var want map[string]any
	wantErr := utiljson.Unmarshal([]byte(data), &want)
	for name, d := range decoders {
		for range 3 {
			got, err := d.Decode([]byte(data))
			if wantErr != nil {
				require.EqualError(t, err, wantErr.Error(), "%s: %.200s", name, data)
				continue
			}
			require.NoError(t, err, "%s: %.200s", name, data)
			require.Equal(t, want, got, "%s: %.200s", name, data)
		}
	}
}

func TestUnstructuredDecodesAsApimachinery(t *testing.T) {
	all := []string{definition, coreEvent}
	for n := range 40 {
		all = append(all, string(podNumber(t, n)), string(resourceNumber(n)))
	}
	d := decoders()
	for _, data := range all {
		sameUnstructured(t, d, data)
		for name, d := range d {
			_, plain := d.object([]byte(data))
			assert.True(t, plain, "%s: %s", name, data)
		}
	}
}

// oddities are texts that a decoder may get wrong. % stands for a value.
var oddities = []string{
	`1`, `-1`, `0`, `-0`, `1.0`, `-0.0`, `1e3`, `1E+3`, `1e-3`, `1e400`, `-1e400`, `1e-999`, `9223372036854775807`, `9223372036854775808`,
	`-9223372036854775808`, `-9223372036854775809`, `123456789012345678`, `1234567890123456789`, `123456789012345678901234567890`,
	`01`, `-`, `+1`, `.5`, `1.`, `1.e3`, `1e`, `1e+`, `--1`, `0x10`, `1_000`, `NaN`, `Infinity`,
	`true`, `false`, `null`, `nul`, `True`, `truefalse`, `nulll`,
	`"plain"`, `""`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\u4e16\u0000"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx"`, `"\ud83d\n"`,
	`"\ud83d\u0041"`, `"\u12"`, `"\u12G4"`, `"\x41"`, `"\'"`, `"\`, `"`, `"é世😀"`, "\"\xff\"", "\"a\xc3\"", "\"\xed\xa0\x80\"", "\"\xf0\x9f\x98\"", "\"\xff\\n\"",
	"\"\x00\"", "\"\x1f\"", "\"\n\"", "\"\t\"", "\"\x7f\"", `'a'`, "\"eight by\xff\"", "\"eight byt\x01\"", "\"sixteen bytes ok\\\"and more\"",
	`{}`, `[]`, `[[]]`, `{"":{}}`, `[null,{}]`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`,
	`[`, `{`, `[}`, `{]`, `{"a":1]`, `]`, `}`, `[1`, `{"a":1`, `{"a":`, `{"a"`, `{"`,
	`{"a":1,"a":2}`, `{"a":{"b":1},"a":{"c":2}}`, `{"\u0061":1,"a":2}`, `{"a":1,"\u0061":[2]}`, "{\"\xff\":1,\"\\ufffd\":2}",
	" \t\r\n1 \t\r\n", "\f1", "\u00a01", "\ufeff1", `/* */1`, `1 1`, `1,`, "1\x00",
}

func TestUnstructuredOddities(t *testing.T) {
	for _, odd := range oddities {
		d := decoders()
		sameUnstructured(t, d, odd)
		sameUnstructured(t, d, `{"a":`+odd+`}`)
		sameUnstructured(t, d, `{"a":{"b":[`+odd+`]},"c":"x"}`)
		sameUnstructured(t, d, `{"a":"x","c":`+odd+`,"d":{}} `)
		sameUnstructured(t, d, odd+`{"a":1}`)
		sameUnstructured(t, d, `{"a":1}`+odd)
		sameUnstructured(t, d, `{"metadata":{"name":`+odd+`},"spec":{"a":`+odd+`}}`)
		sameUnstructured(t, d, strings.ReplaceAll(`{%:1}`, "%", odd))
	}
	sameUnstructured(t, decoders(), "")
}

func TestUnstructuredDepth(t *testing.T) {
	for _, n := range []int{deepest - 1, deepest} {
		d := decoders()
		sameUnstructured(t, d, strings.Repeat(`{"a":`, n)+"1"+strings.Repeat(`}`, n))
		sameUnstructured(t, d, `{"a":`+strings.Repeat(`[`, n)+strings.Repeat(`]`, n)+"}")
		sameUnstructured(t, d, `{"a":`+strings.Repeat(`[`, n)+strings.Repeat(`{"a":`, n)+"1")
	}
}

func TestUnstructuredPathsAreBounded(t *testing.T) {
	d := NewUnstructured(Options{Table: share.New(0), Values: true})
	for n := range 300 {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, `,"key %d of %d":{"x":["y"],"metadata":{"a":{}}}`, i, n)
		}
		sameUnstructured(t, map[string]*Unstructured{"": d}, `{"spec":{"a":{"b":1}`+b.String()+`}}`)
		sameUnstructured(t, map[string]*Unstructured{"": d}, fmt.Sprintf(`{"spec":{"a":{"b":1},"c%d":{"d%d":{}}},"e%d":[[{"f":1}]]}`, n%60, n, n%60))
	}
	assert.LessOrEqual(t, d.paths.count, mostPaths)
}

// Objects may have more members than a token can count.
func TestUnstructuredWithManyMembers(t *testing.T) {
	values := NewUnstructured(Options{Table: share.New(0), Values: true})
	d := map[string]*Unstructured{"": values}
	for _, n := range []int{many - 1, many} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":[],`, i)
		}
		sameUnstructured(t, d, `{"a":{`+b.String()+`"x":1}}`)
		a, err := values.Decode([]byte(`{"a":[{}` + strings.Repeat(`,[1]`, n-1) + "]}"))
		require.NoError(t, err)
		assert.Equal(t, n, cap(a["a"].([]any)))
	}
}
