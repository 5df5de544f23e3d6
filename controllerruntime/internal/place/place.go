package place

import (
	"fmt"
	"reflect"
	"runtime"
)

// Of returns the file and the line of a function's beginning, and "" for nil.
func Of(f any) string {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return ""
	}
	code := runtime.FuncForPC(v.Pointer())
	file, line := code.FileLine(code.Entry())
	return fmt.Sprintf("%s:%d", file, line)
}
