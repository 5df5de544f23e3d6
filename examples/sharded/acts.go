package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// patience is the longest duration of an act. After it, the table shows what is missing.
const patience = time.Minute

// play runs two acts: the first with the given number of replicas, and the second with one more. All replicas
// of the first act have stopped before the second act begins. At the end, play prints which replica has
// handled how many objects.
func play(ctx context.Context, config *rest.Config, replicas uint, out *log.Logger) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	path, remove, err := kubeconfig(config.Host)
	if err != nil {
		return err
	}
	defer remove()
	var acts []*act
	for n := range 2 {
		a := &act{
			client: client, kubeconfig: path, out: out,
			replicas: int(replicas) + n, objects: atFirst + n*more,
			handledBy: map[string]map[int]bool{}, proofs: map[string]bool{},
		}
		if err := a.play(ctx); err != nil {
			return err
		}
		acts = append(acts, a)
	}
	out.Print("\n" + table(acts))
	for _, a := range acts {
		if _, twice, missed := a.counts(); twice+missed > 0 {
			return fmt.Errorf("with %d replicas, %d ConfigMaps were handled twice, and %d were not handled", a.replicas, twice, missed)
		}
	}
	return nil
}

// act is a run with a fixed number of replicas, from the start of the first replica to the end of the last.
type act struct {
	client     kubernetes.Interface
	kubeconfig string
	out        *log.Logger
	replicas   int

	stage     stage
	objects   int                     // ConfigMaps in the cluster
	ready     int                     // replicas that have handled the existing ConfigMaps
	handledBy map[string]map[int]bool // the replicas, by the name of the ConfigMap
	proofs    map[string]bool         // the lines that the last stage still waits for
}

// stage is the progress of an act.
type stage uint8

const (
	starting stage = iota // the replicas handle the existing objects
	adding                // the replicas handle new objects
	proving               // each replica gets a last change; a replica that has handled it has handled everything before
	done
)

// line is a line that a replica has printed.
type line struct {
	replica int
	text    string
}

// play starts the replicas, and stops them when the act is done.
func (a *act) play(ctx context.Context) error {
	a.out.Printf("\nstarting %d replicas", a.replicas)
	running, stop := context.WithTimeout(ctx, patience)
	defer stop()
	lines := make(chan line)
	failures := make([]error, a.replicas)
	var failed error
	var replicas sync.WaitGroup
	for i := range a.replicas {
		replicas.Go(func() {
			failures[i] = a.runReplica(running, i, lines)
			if failures[i] != nil {
				stop() // the others cannot finish the act without this replica
			}
		})
	}
	go func() {
		replicas.Wait()
		close(lines)
	}()
	for l := range lines {
		a.out.Printf("%s: %s", a.name(l.replica), l.text)
		err := a.came(running, l)
		if err != nil && running.Err() == nil {
			failed = err
		}
		if err != nil || a.stage == done {
			stop()
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.out.Printf("all %d replicas have stopped", a.replicas)
	return errors.Join(append(failures, failed)...)
}

func (a *act) name(replica int) string { return fmt.Sprintf("sharded-%d", replica) }

// runReplica runs this program as a replica, as a StatefulSet would, until ctx ends.
func (a *act) runReplica(ctx context.Context, i int, lines chan<- line) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "--kubeconfig", a.kubeconfig, "--replicas", fmt.Sprint(a.replicas)) //nolint:gosec // the command is this program
	cmd.Env = append(os.Environ(), "HOSTNAME="+a.name(i))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // before it is killed
	printed, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	forward(i, printed, lines)
	if err := cmd.Wait(); !cmd.ProcessState.Success() {
		return fmt.Errorf("%s: %w", a.name(i), err)
	}
	return nil
}

// forward sends the lines of a replica to a channel until the replica's output ends.
func forward(replica int, printed io.Reader, lines chan<- line) {
	for s := bufio.NewScanner(printed); s.Scan(); {
		lines <- line{replica, s.Text()}
	}
}

// came handles a line of a replica, and begins the next stage when the current one is complete.
func (a *act) came(ctx context.Context, l line) error {
	var namespace, name, version string
	if strings.HasPrefix(l.text, "handled all ") {
		a.ready++
	} else if n, _ := fmt.Sscanf(strings.ReplaceAll(l.text, "/", " "), "handles %s %s at %s", &namespace, &name, &version); n == 3 {
		if a.handledBy[name] == nil {
			a.handledBy[name] = map[int]bool{}
		}
		a.handledBy[name][l.replica] = true
		delete(a.proofs, name+" at "+version)
	}
	switch {
	case a.stage == starting && a.ready == a.replicas:
		a.stage = adding
		return a.add(ctx)
	case a.stage == adding && len(a.handledBy) == a.objects:
		a.stage = proving
		return a.prove(ctx)
	case a.stage == proving && len(a.proofs) == 0:
		a.stage = done
	}
	return nil
}

// add creates more ConfigMaps.
func (a *act) add(ctx context.Context) error {
	a.out.Printf("creating %d more ConfigMaps", more)
	for range more {
		c := newConfigMap(a.objects)
		if _, err := a.client.CoreV1().ConfigMaps(c.Namespace).Create(ctx, c, metav1.CreateOptions{}); err != nil {
			return err
		}
		a.objects++
	}
	return nil
}

// prove changes one ConfigMap of each replica, after all other changes.
func (a *act) prove(ctx context.Context) error {
	a.out.Print("changing one ConfigMap of each replica")
	changed := map[int]bool{}
	for n := range a.objects {
		c := newConfigMap(n)
		for replica := range a.handledBy[c.Name] {
			if changed[replica] {
				continue
			}
			changed[replica] = true
			c.Data["replicas"] = fmt.Sprint(a.replicas)
			c, err := a.client.CoreV1().ConfigMaps(c.Namespace).Update(ctx, c, metav1.UpdateOptions{})
			if err != nil {
				return err
			}
			a.proofs[c.Name+" at "+c.ResourceVersion] = true
		}
	}
	return nil
}

// counts returns how many ConfigMaps each replica has handled, how many were handled by two replicas, and how
// many by none.
func (a *act) counts() (each []int, twice, missed int) {
	each = make([]int, a.replicas)
	for _, by := range a.handledBy {
		for replica := range by {
			each[replica]++
		}
		if len(by) > 1 {
			twice++
		}
	}
	return each, twice, a.objects - len(a.handledBy)
}

// table shows for each act how many ConfigMaps each replica has handled. The last act has the most replicas.
func table(acts []*act) string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	last := acts[len(acts)-1]
	head := "\tConfigMaps"
	for i := range last.replicas {
		head += "\t" + last.name(i)
	}
	_, _ = fmt.Fprintln(t, head+"\ttwice\tnever\t") // a Builder returns no error
	for _, a := range acts {
		each, twice, missed := a.counts()
		row := fmt.Sprintf("%d replicas\t%d", a.replicas, a.objects)
		for _, n := range each {
			row += fmt.Sprintf("\t%d", n)
		}
		row += strings.Repeat("\t", last.replicas-a.replicas)
		_, _ = fmt.Fprintf(t, "%s\t%d\t%d\t\n", row, twice, missed)
	}
	_ = t.Flush()
	return strings.TrimRight(text.String(), "\n")
}
