package jsondecode

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
)

// decOf is the field of a resource.Quantity with the pointer to a number above int64, or nil if
// quantities have changed: then none is shared. Getters write into that number.
var decOf = func() []int {
	d, ok := quantity.FieldByName("d")
	if !ok || d.Type.Kind() != reflect.Struct || d.Type.NumField() != 1 || d.Type.Field(0).Type.Kind() != reflect.Pointer {
		return nil
	}
	return append(d.Index, 0)
}()

// settle fills a quantity's cached text, so that no getter writes into the quantity, and reports
// whether it could.
func settle(q *resource.Quantity) bool {
	_ = q.String()
	return reflect.ValueOf(q).Elem().FieldByIndex(decOf).IsNil()
}
