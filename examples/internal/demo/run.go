package demo

import (
	"context"
	"log"
	"net"
	"time"

	"k8s.io/client-go/rest"
)

// Cluster is the cluster that an example uses.
type Cluster struct {
	Config *rest.Config
	Origin string // where the configuration comes from
	Demo   bool   // the cluster is the demo cluster
}

// Run calls use with the cluster of the flags or the environment, or else with a demo cluster in which the
// story happens. The context of use also ends after the duration of --for. An error of use is ignored after
// Ctrl-C, that is, once ctx has ended.
func (f *Flags) Run(ctx context.Context, notes *log.Logger, story Story, use func(context.Context, Cluster) error) error {
	cluster, end, err := f.connect(ctx, notes, story)
	if err != nil {
		return err
	}
	defer end()
	timed, stop := f.limited(ctx)
	defer stop()
	if err := use(timed, cluster); ctx.Err() == nil {
		return err
	}
	return nil
}

// connect returns the cluster, and a function that stops it if it is the demo cluster. It sends no request.
func (f *Flags) connect(ctx context.Context, notes *log.Logger, story Story) (cluster Cluster, end func(), err error) {
	why := "this is a demo cluster"
	if !f.demo {
		config, origin, err := f.config(rest.InClusterConfig)
		if err != nil || config != nil {
			return reach(config, origin), func() {}, err
		}
		why = "found no kubeconfig, so this is a demo cluster"
	}
	config, end, err := story.start(ctx, why, notes)
	return Cluster{Config: config, Origin: "the demo", Demo: true}, end, err
}

// reach makes connections to a wrong address fail soon. client-go waits 30 s.
func reach(config *rest.Config, origin string) Cluster {
	if config != nil {
		config.Dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return Cluster{Config: config, Origin: origin}
}
