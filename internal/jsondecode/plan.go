package jsondecode

import (
	"encoding/json"
	"reflect"

	"github.com/tidemark-k8s/tidemark/internal/gotype"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// A form selects the code that decodes values of a Go type.
type form uint8

const (
	formOdd         form = iota // apimachinery's decoder decodes it
	formString                  //
	formBool                    //
	formInt                     //
	formUint                    //
	formFloat                   //
	formStruct                  //
	formPointer                 //
	formSlice                   //
	formBytes                   // a slice of bytes, in base64
	formMap                     // a map with string keys
	formStrings                 // map[string]string
	formAny                     // the empty interface
	formUnmarshaler             // a type with an UnmarshalJSON method
	formTime                    // metav1.Time
	formQuantity                // resource.Quantity
	formIntOrString             // intstr.IntOrString
)

// plan describes how values of one Go type are decoded. A complete plan never changes.
type plan struct {
	typ    reflect.Type
	form   form
	elem   *plan      // the plan of the values in a pointer, slice or map
	site   share.Site // the site of the elements, if they are containers
	fields []field
	byName map[string]int
	known  bool // its UnmarshalJSON is apimachinery's, which keeps no part of the bytes
	shared bool // values may be shared, judging by their type
	always bool // values may be shared in any place
}

// field is a field of a struct or of an embedded struct.
type field struct {
	name  string
	index []int
	plan  *plan
	site  share.Site
	realm gotype.Realm
}

// plans holds the plans by type, for all decoders.
var plans gotype.Plans[reflect.Type, plan]

// planOf returns the complete plan of a type.
func planOf(t reflect.Type) *plan { return plans.Of(t, fill) }

func fill(key reflect.Type, p *plan, of func(reflect.Type) *plan) {
	t := gotype.Of(key)
	*p = plan{typ: key, form: formOf(t), known: t.Writers == 0, shared: t.Shareable(), always: t.PointsToFieldsV1()}
	switch t.Kind {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		p.elem = of(t.Elem.Go)
		p.site = share.NewSite()
	}
	if p.form != formStruct {
		return
	}
	p.byName = make(map[string]int, len(t.Members))
	for i, m := range t.Members {
		p.byName[m.Name] = i
		p.fields = append(p.fields, field{m.Name, m.Index, of(m.Type.Go), share.NewSite(), m.Realm})
	}
}

func formOf(t *gotype.Type) form {
	switch {
	case t.Go == gotype.Time:
		return formTime
	case t.Go == gotype.Quantity:
		return formQuantity
	case t.Go == gotype.IntOrString:
		return formIntOrString
	case t.Decodes&gotype.JSON != 0 && t.Go.Name() != "":
		return formUnmarshaler
	case t.Decodes&(gotype.JSON|gotype.Text) != 0, t.Go == reflect.TypeFor[json.Number](), t.OddJSON:
		return formOdd
	}
	switch t.Kind {
	case reflect.String:
		return formString
	case reflect.Bool:
		return formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return formUint
	case reflect.Float32, reflect.Float64:
		return formFloat
	case reflect.Struct:
		return formStruct
	}
	return formOfReference(t)
}

func formOfReference(t *gotype.Type) form {
	switch t.Kind {
	case reflect.Interface:
		if t.Go.NumMethod() == 0 {
			return formAny
		}
	case reflect.Slice:
		if t.Elem.Kind == reflect.Uint8 {
			return formBytes
		}
		return formSlice
	case reflect.Map:
		switch {
		case t.Go == reflect.TypeFor[map[string]string]():
			return formStrings
		case t.Key.Kind == reflect.String && t.Key.Decodes&gotype.Text == 0:
			return formMap
		}
	case reflect.Pointer: // but not a pointer to a pointer, or one with methods
		if t.Go.Name() == "" && t.Elem.Kind != reflect.Pointer && t.Elem.Kind != reflect.Interface {
			return formPointer
		}
	}
	return formOdd
}
