package main

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// demoServer is the process of --demo itself: an API server with made-up objects.
type demoServer struct {
	server   *informertest.Server
	answers  *json.Encoder
	kinds    []cluster.Kind // those with objects
	all      int            // objects
	stop     context.CancelFunc
	changing chan error // receives the result of the changes
}

const (
	demoSeed   = 37
	demoBeat   = 10 * time.Millisecond // between two changes
	demoReport = 500                   // objects between two answers of fill
	// One in this many changes deletes an object and creates it again.
	demoRenewal = 10
)

// serveDemo runs the process. It carries out orders until its input ends.
func serveDemo(ctx context.Context, in io.Reader, out io.Writer) error {
	d := &demoServer{server: informertest.New(informertest.Options{BookmarkInterval: time.Minute}), answers: json.NewEncoder(out)}
	defer d.end()
	return process.Serve(ctx, in, func(ctx context.Context, o demoOrder) error {
		a, err := d.obey(ctx, o)
		a.outcome = outcomeOf(err)
		return d.answers.Encode(a)
	})
}

func (d *demoServer) end() {
	if d.stop != nil {
		d.stop()
		<-d.changing
	}
	d.server.Close()
}

func (d *demoServer) obey(ctx context.Context, o demoOrder) (a demoAnswer, err error) {
	switch o.Do {
	case demoStart:
		a.Host, err = d.start()
	case demoFill:
		err = d.fill(ctx, o)
	case demoChange:
		ctx, d.stop = context.WithCancel(ctx)
		d.changing = make(chan error, 1)
		go func() { d.changing <- d.change(ctx) }()
	case demoRest:
		d.stop()
		err = <-d.changing
		d.stop = nil
	}
	return a, err
}

func (d *demoServer) start() (host string, err error) {
	err = d.server.Register(informertest.Kind{
		GVR: cluster.Databases, GVK: cluster.Databases.GroupVersion().WithKind("Database"), Namespaced: true, Generation: true, Status: true,
	})
	if err != nil {
		return "", err
	}
	if err := d.server.Start(); err != nil {
		return "", err
	}
	return d.server.ClientConfig().Host, nil
}

// fill creates the objects of the kinds that it knows. Other kinds stay empty.
func (d *demoServer) fill(ctx context.Context, o demoOrder) error {
	made := cluster.New(demoSeed, o.Pods)
	known := append(made.Kinds(), cluster.Kind{
		Resource: cluster.Databases, Count: max(1, o.Pods/2), Make: func(i int) cluster.Object { return asMap(made.Database(i)) },
	})
	for _, k := range o.Kinds {
		for _, c := range known {
			if c.Resource == k.Resource {
				d.kinds, d.all = append(d.kinds, c), d.all+c.Count
			}
		}
	}
	done := 0
	for _, k := range d.kinds {
		for i := range k.Count {
			if done%demoReport == 0 {
				if err := d.answers.Encode(demoAnswer{Made: done, All: d.all}); err != nil {
					return err
				}
			}
			done++
			if err := d.server.Create(ctx, fresh(k, i)); err != nil {
				return err
			}
		}
	}
	d.server.Compact() // the history of the creations is not needed
	return nil
}

// fresh makes an object without a UID. The server chooses the UID.
func fresh(k cluster.Kind, i int) cluster.Object {
	object := k.Make(i)
	object.SetUID("")
	return object
}

// change changes one object after another, until ctx ends.
func (d *demoServer) change(ctx context.Context) error {
	if d.all == 0 {
		return nil
	}
	ticker := time.NewTicker(demoBeat)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		if err := d.changeOne(context.WithoutCancel(ctx), n); err != nil {
			return err
		}
	}
}

// stride spreads the changes over the objects. It is a prime.
const stride = 7919

func (d *demoServer) changeOne(ctx context.Context, n int) error {
	i := n * stride % d.all
	for _, k := range d.kinds {
		if i >= k.Count {
			i -= k.Count
			continue
		}
		object := fresh(k, i)
		if n%demoRenewal == 0 && len(object.GetFinalizers()) == 0 { // an object with finalizers would stay
			if err := d.server.Delete(ctx, object); err != nil {
				return err
			}
			return d.server.Create(ctx, object)
		}
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["demo.tidemark/change"] = strconv.Itoa(n)
		object.SetAnnotations(annotations)
		return d.server.Update(ctx, object)
	}
	return nil
}

// asMap converts an object of a Go type that the server does not know to a map.
func asMap(of runtime.Object) cluster.Object {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	if err != nil {
		panic(err) // made-up objects always have a JSON form
	}
	return &unstructured.Unstructured{Object: fields}
}
