package jsondecode

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/tidemark-k8s/tidemark/internal/share"
)

// zoo has fields of all forms.
type zoo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Embedded          `json:",inline"`

	String   string            `json:"string,omitempty"`
	Named    corev1.PodPhase   `json:"named"`
	Bool     bool              `json:"bool"`
	Int      int               `json:"int"`
	Int8     int8              `json:"int8"`
	Int32    *int32            `json:"int32"`
	Uint     uint              `json:"uint"`
	Uint8    uint8             `json:"uint8"`
	Float32  float32           `json:"float32"`
	Float64  *float64          `json:"float64"`
	Bytes    []byte            `json:"bytes"`
	Slice    []string          `json:"slice"`
	Deep     [][]int           `json:"deep"`
	Pointers []*leaf           `json:"pointers"`
	Leaf     leaf              `json:"leaf"`
	Leaves   []leaf            `json:"leaves"`
	Pointer  *leaf             `json:"pointer"`
	ToSlice  *[]string         `json:"toSlice"`
	ToMap    *map[string]leaf  `json:"toMap"`
	Map      map[string]string `json:"map"`
	Leafs    map[string]leaf   `json:"leafs"`
	Lists    map[string][]leaf `json:"lists"`
	Secret   map[string][]byte `json:"secret"`
	Numbers  map[leafName]int8 `json:"numbers"`
	Any      any               `json:"any"`
	Anys     []any             `json:"anys"`
	Untagged string
	Dash     string `json:"-"`
	DashName string `json:"-,"` //nolint:staticcheck // the name is a dash

	Time     metav1.Time          `json:"time"`
	TimeP    *metav1.Time         `json:"timeP"`
	Micro    metav1.MicroTime     `json:"micro"`
	Duration *metav1.Duration     `json:"duration"`
	Quantity resource.Quantity    `json:"quantity"`
	Limits   corev1.ResourceList  `json:"limits"`
	Port     intstr.IntOrString   `json:"port"`
	PortP    *intstr.IntOrString  `json:"portP"`
	Raw      runtime.RawExtension `json:"raw"`
	RawP     *json.RawMessage     `json:"rawP"`
	Self     *zoo                 `json:"self"`
}

// Embedded has a field that another field of the same name hides, and one that is not hidden.
type Embedded struct {
	String   string `json:"string"`
	Embedded string `json:"embedded"`
}

type leafName string

type leaf struct {
	Name leafName           `json:"name"`
	N    int                `json:"n"`
	More map[string]string  `json:"more"`
	Size *resource.Quantity `json:"size"`
}

// oddStruct has fields that apimachinery's decoder must decode.
type oddStruct struct {
	Quoted int         `json:"quoted,string"`
	Number json.Number `json:"number"`
	Array  [2]int      `json:"array"`
	Text   textual     `json:"text"`
	Face   error       `json:"face"`
	Double **int       `json:"double"`
}

// oddEmbedded embeds an unexported type.
type oddEmbedded struct {
	embedded
	*Embedded
}

type embedded struct {
	String string `json:"string"`
}

type textual struct{ s string }

func (t *textual) UnmarshalText(b []byte) error { t.s = string(b); return nil }

func typedDecoders(object any) map[string]*Typed {
	t := reflect.TypeOf(object)
	return map[string]*Typed{
		"unshared": NewTyped(t, Options{}),
		"values":   NewTyped(t, Options{Table: share.New(0), Values: true}),
	}
}

func sameTyped(t *testing.T, decoders map[string]*Typed, data string) {
	t.Helper()
	for name, d := range decoders {
		want := reflect.New(d.plan.typ).Interface()
		wantErr := utiljson.Unmarshal([]byte(data), want)
		for range 2 {
			got, err := d.Decode([]byte(data))
			if wantErr != nil {
				require.EqualError(t, err, wantErr.Error(), "%s: %.200s", name, data)
				continue
			}
			require.NoError(t, err, "%s: %.200s", name, data)
			if !reflect.DeepEqual(want, got) {
				require.Equal(t, want, got, "%s: %.200s", name, data)
			}
		}
	}
}

func TestTypedDecodesAsApimachinery(t *testing.T) {
	pods, events := typedDecoders(corev1.Pod{}), typedDecoders(corev1.Event{})
	for n := range 40 {
		data := podNumber(t, n)
		sameTyped(t, pods, string(data))
		for name, d := range pods {
			_, plain := d.DecodePlain(data)
			assert.True(t, plain, "%s: %s", name, data)
		}
	}
	sameTyped(t, events, coreEvent)
	sameTyped(t, pods, string(resourceNumber(1)))
}

func TestTypedOddities(t *testing.T) {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[zoo]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	names = append(names, "quoted", "number", "array", "text", "face", "double")
	more := append([]string{
		`"2025-01-02T03:04:05Z"`, `"2025-01-02T03:04:05.123456+02:00"`, `"2025-01-02"`, `"5m"`, `"100m"`, `" 1Gi "`, `"12e6"`, `"0.0000000001"`, `"1Zi"`, `"99999999999999999999Ei"`,
		`127`, `128`, `255`, `256`, `-129`, `3.5e38`, `"YWJj"`, `"YWJ"`, `"YW\nJj"`, `[1,2]`, `[256]`, `["a","b"]`, `[[1],[],null]`, `{"name":"x","n":1,"more":{"a":"b","a":null},"size":"1.5"}`,
		`[{"name":"x"},null,{"n":2,"n":3}]`, `[{"Name":"x","more":{}},{"more":null}]`, `{"a":{"name":"x"},"b":null}`, `{"a":[{"size":"100000000000000000000"}],"a":[]}`, `{"a":"YQ==","b":null}`,
		`{"cpu":"1","memory":"1Ki","x":null,"y":0.5}`, `{"string":"a","embedded":"b"}`, `{"name":"n","labels":{"a":"b"},"creationTimestamp":null,"managedFields":[{"fieldsV1":{"f:a":{}}}]}`,
		`{"string":"a","String":"b"}`, `{"metadata":{"name":"a"},"metadata":{"namespace":"b"}}`, `{"str\u0069ng":"a"}`,
		`{"map":{"a":"1"},"map":{"b":"2"}}`, `{"leaves":[{"name":"a","n":1},{"n":3}],"leaves":[{"n":2}]}`, `{"pointer":{"n":1},"pointer":{"name":"x"}}`,
	}, oddities...)
	require.Equal(t, formStruct, planOf(reflect.TypeFor[zoo]()).form)
	for _, object := range []any{zoo{}, oddStruct{}, oddEmbedded{}, corev1.ConfigMap{}} {
		d := typedDecoders(object)
		for i, odd := range more {
			sameTyped(t, d, odd)
			for n, name := range names {
				sameTyped(t, d, `{"`+name+`":`+odd+`}`)
				if n%5 == i%5 { // all pairs would take minutes with the race detector
					sameTyped(t, d, `{"unknown":[`+odd+`],"`+name+`":[`+odd+`],"self":{"`+name+`":`+odd+`}}`)
				}
			}
		}
	}
}
