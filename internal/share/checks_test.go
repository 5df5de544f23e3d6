package share

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watch has some objects share a value that build makes, and returns it.
func watch[T any](table *Table, s Site, objects int, build func() T) (value T) {
	for i := range objects {
		table.Name(func() string { return fmt.Sprint("ns/object-", i) })
		table.Lock()
		v, m := table.Find(s, []byte("value"))
		if v != nil {
			value = v.(T)
		}
		table.Keep(m, s, []byte("value"), build(), 8)
		table.Unlock()
	}
	return value
}

func TestChangeOfASharedValueIsFound(t *testing.T) {
	type limits map[string]resource.Quantity
	type env struct {
		Name  string
		Value *int
		Any   any
	}
	for name, test := range map[string]struct {
		build  func() any
		change func(any)
	}{
		"a map gets an entry":   {func() any { return map[string]string{"a": "b"} }, func(v any) { v.(map[string]string)["c"] = "d" }},
		"a map loses one":       {func() any { return map[string]string{"a": "b"} }, func(v any) { delete(v.(map[string]string), "a") }},
		"two entries swap":      {func() any { return map[string]string{"a": "1", "b": "2"} }, func(v any) { m := v.(map[string]string); m["a"], m["b"] = m["b"], m["a"] }},
		"an element":            {func() any { return []env{{Name: "a"}} }, func(v any) { v.([]env)[0].Name = "b" }},
		"elements swap":         {func() any { return []int{1, 2} }, func(v any) { s := v.([]int); s[0], s[1] = s[1], s[0] }},
		"a pointee":             {func() any { return new(int64) }, func(v any) { *v.(*int64)++ }},
		"a pointee below":       {func() any { return []env{{Value: new(int)}} }, func(v any) { *v.([]env)[0].Value = 7 }},
		"a pointer gone":        {func() any { return []env{{Value: new(int)}} }, func(v any) { v.([]env)[0].Value = nil }},
		"nil instead of empty":  {func() any { return []env{{Any: []int{}}} }, func(v any) { v.([]env)[0].Any = []int(nil) }},
		"an untyped value":      {func() any { return map[string]any{"a": []any{int64(1)}} }, func(v any) { v.(map[string]any)["a"].([]any)[0] = float64(1) }},
		"a bool, a float":       {func() any { return []any{false, 0.5, uint8(1), [1]bool{}} }, func(v any) { v.([]any)[1] = 1.5 }},
		"a time":                {func() any { return &metav1.Time{Time: time.Unix(1, 0)} }, func(v any) { v.(*metav1.Time).Time = time.Unix(2, 0) }},
		"a place of a time":     {func() any { return &metav1.Time{Time: time.Unix(1, 0)} }, func(v any) { v.(*metav1.Time).Time = time.Unix(1, 0).UTC() }},
		"a sum":                 {func() any { q := resource.MustParse("1"); return &q }, func(v any) { v.(*resource.Quantity).Add(resource.MustParse("1")) }},
		"a Quantity of a map":   {func() any { return limits{"cpu": resource.MustParse("1")} }, func(v any) { v.(limits)["cpu"] = resource.MustParse("2") }},
		"a getter that decides": {func() any { q := resource.MustParse("1"); return &q }, func(v any) { v.(*resource.Quantity).AsDec() }},
	} {
		t.Run(name, func(t *testing.T) {
			table := New(0)
			table.DetectWrites()
			value := watch(table, siteA, 3, test.build)
			require.NotNil(t, value)
			assert.Empty(t, table.Changed())
			test.change(value)
			assert.Equal(t, []Change{{Path: "A.a", Objects: []string{"ns/object-1", "ns/object-2"}}}, table.Changed())
			table.Close()
			assert.Empty(t, table.Changed())
		})
	}
}

// Reading a time, or a Quantity with a cached text, is not a change.
func TestReadingIsNoChange(t *testing.T) {
	table := New(0)
	table.DetectWrites()
	q := watch(table, siteA, 3, func() *resource.Quantity {
		q := resource.MustParse("250m")
		_ = q.String()
		return &q
	})
	at := watch(table, siteB, 3, func() *metav1.Time { return &metav1.Time{Time: time.Unix(1, 0)} })
	_, _ = q.String(), q.Value()
	_, err := q.MarshalJSON()
	require.NoError(t, err)
	assert.Negative(t, q.Cmp(resource.MustParse("1")))
	_ = at.Format(time.RFC1123)
	assert.Empty(t, table.Changed())
}

// Only some of the objects that share a value are named, each once.
func TestChangeNamesSomeObjects(t *testing.T) {
	table := New(0)
	table.DetectWrites()
	for range 2 {
		value := watch(table, siteA, 100, func() *int { return new(int) })
		*value++
	}
	changes := table.Changed()
	require.Len(t, changes, 1)
	assert.Len(t, changes[0].Objects, maxNames)
}

func TestChangeIsFoundThoughTheTableDropsTheValue(t *testing.T) {
	table := New(2000)
	table.DetectWrites()
	*watch(table, siteA, 3, func() *int { return new(int) }) = 7
	for i := range 5000 {
		for range 2 {
			object(table, siteB, fmt.Sprintf("%0100d", i))
		}
	}
	require.Nil(t, table.entry(table.hash(siteA, []byte("value")), siteA, []byte("value")), "the value was dropped")
	assert.Equal(t, "A.a", table.Changed()[0].Path)
	assert.Len(t, table.Changed(), 1)
}

func TestNobodyWatchesUnlessAsked(t *testing.T) {
	table := New(0)
	*watch(table, siteA, 3, func() *int { return new(int) }) = 7
	assert.Empty(t, table.Changed())
	var none *Table
	none.DetectWrites()
	none.Name(func() string { return "" })
	assert.Empty(t, none.Changed())
}
