package main

import (
	"context"

	"github.com/tidemark-k8s/tidemark/internal/process"
)

// demo is the process of --demo, as its parent sees it.
type demo struct {
	child *process.Child
	host  string
}

// demoOrder is a request to the process of --demo.
type demoOrder struct {
	Do demoStep
	// For fill:
	Kinds []kind
	Pods  int
}

// demoStep is the next step of the demo.
type demoStep string

const (
	demoStart  demoStep = "start"  // listen, and return the address
	demoFill   demoStep = "fill"   // create the objects of some kinds
	demoChange demoStep = "change" // change objects until the step rest
	demoRest   demoStep = "rest"
)

// demoAnswer is an answer of the demo. The step fill has many answers.
type demoAnswer struct {
	outcome
	Host      string
	Made, All int
}

func startDemo(ctx context.Context) (*demo, error) {
	child, err := process.Start(ctx, roleVariable+"="+roleDemo)
	if err != nil {
		return nil, err
	}
	d := &demo{child: child}
	a, err := d.order(demoOrder{Do: demoStart}, nil)
	if err != nil {
		child.End()
		return nil, err
	}
	d.host = a.Host
	return d, nil
}

func (d *demo) fill(kinds []kind, pods int, p *progress) error {
	_, err := d.order(demoOrder{Do: demoFill, Kinds: kinds, Pods: pods}, func(a demoAnswer) {
		if a.All > 0 {
			p.show("creating objects", a.Made, a.All)
		}
	})
	return err
}

func (d *demo) change() error {
	_, err := d.order(demoOrder{Do: demoChange}, nil)
	return err
}

func (d *demo) rest() error {
	_, err := d.order(demoOrder{Do: demoRest}, nil)
	return err
}

// order sends an order, and waits for its last answer.
func (d *demo) order(o demoOrder, each func(demoAnswer)) (demoAnswer, error) {
	if err := d.child.Send(o); err != nil {
		return demoAnswer{}, err
	}
	return last(d.child, each)
}

func (d *demo) end() { d.child.End() }
