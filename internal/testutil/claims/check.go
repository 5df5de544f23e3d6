package claims

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidemark-k8s/tidemark/shard"
)

// check compares one line of a script with an answer.
func (p *player) check(c check, answer any) error {
	value, err := p.fill(c.value)
	if err != nil {
		return err
	}
	got, there := find(answer, c.path)
	switch c.op {
	case "exists":
		return failUnless(there, "it is missing")
	case "absent":
		return failUnless(!there, "it is %s", spell(got))
	case "=>":
		p.vars[value] = text(got)
		return failUnless(there, "it is missing")
	case "hash=>":
		hash := shard.Hash(text(got))
		p.vars[value], p.vars[value+"Next"] = fmt.Sprintf("0x%016x", hash), fmt.Sprintf("0x%016x", hash+1)
		return failUnless(there, "it is missing")
	case "len":
		return failUnless(strconv.Itoa(size(got)) == value, "it has %d elements, not %s", size(got), value)
	}
	var want any
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		return fmt.Errorf("%s is not JSON: %w", value, err)
	}
	switch c.op {
	case "has":
		return failUnless(strings.Contains(text(got), text(want)), "it is %s, which does not contain %s", spell(got), value)
	case ">":
		return failUnless(compare(text(got), text(want)) > 0, "it is %s, not larger than %s", spell(got), value)
	case ">=":
		return failUnless(compare(text(got), text(want)) >= 0, "it is %s, smaller than %s", spell(got), value)
	}
	return failUnless(there && reflect.DeepEqual(got, want), "got %s, want %s", spell(got), value)
}

func failUnless(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// pathPart is one part of a path: .name, .0 or ["name"].
var pathPart = regexp.MustCompile(`\.([^.\[]+)|\["([^"]+)"\]`)

// find returns the value at a path in an answer. "." is the whole answer.
func find(in any, path string) (found any, ok bool) {
	for _, m := range pathPart.FindAllStringSubmatch(path, -1) {
		name := m[1] + m[2]
		switch v := in.(type) {
		case map[string]any:
			if in, ok = v[name]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				return nil, false
			}
			in = v[i]
		default:
			return nil, false
		}
	}
	return in, true
}

// text returns a string or number unchanged, and other values as JSON.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return spell(v)
}

func spell(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func size(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	case string:
		return len(v)
	}
	return 0
}

// compare compares two integers of any length. Any other text is smaller than all integers.
func compare(a, b string) int {
	x, ok := new(big.Int).SetString(a, 10)
	y, fine := new(big.Int).SetString(b, 10)
	if !ok || !fine {
		return -1
	}
	return x.Cmp(y)
}
