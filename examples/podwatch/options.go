package main

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
)

// options are the values of podwatch's own flags.
type options struct {
	namespace string        // empty for all
	labels    string        // a selector; empty for all
	fields    string        // a selector; empty for all
	json      bool          // the format of the events; false for text
	resync    time.Duration // zero for none
	debug     string        // an address; empty for none
}

// flags returns the flags that set the options.
func (o *options) flags() *demo.Flags {
	f := demo.NewFlags("podwatch")
	f.Func("namespace", "watch only the pods of this `namespace`", func(s string) error {
		o.namespace = s
		if problems := validation.IsDNS1123Label(s); s != "" && len(problems) > 0 {
			return errors.New(problems[0])
		}
		return nil
	})
	f.Func("selector", "watch only pods with these `labels`, such as app=web,track!=retiring", func(s string) error {
		o.labels = s
		_, err := labels.Parse(s)
		return err
	})
	f.Func("field-selector", "watch only pods with these `fields`, such as spec.nodeName=node-1,status.phase!=Failed", func(s string) error {
		o.fields = s
		_, err := fields.ParseSelector(s)
		return err
	})
	f.Func("output", "print events in this `format`: text or json (one object a line); default: text", func(s string) error {
		o.json = s == "json"
		if s != "text" && s != "json" {
			return errors.New("must be text or json")
		}
		return nil
	})
	f.Span(&o.resync, time.Second, "resync", "print all pods again after each `duration`, such as 1m; default: never")
	f.DebugAddress(&o.debug)
	return f
}
