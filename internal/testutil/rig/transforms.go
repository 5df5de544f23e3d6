package rig

import (
	"errors"
	"runtime"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Stripped is a transform that moves the version into a label, and removes version and UID.
func Stripped(p *corev1.Pod) (*corev1.Pod, error) {
	p.Labels = map[string]string{"version": p.ResourceVersion}
	p.ResourceVersion, p.UID = "", ""
	return p, nil
}

// ErrPoison is the error of transforms that fail.
var ErrPoison = errors.New("poison")

// FailByLabel is a transform that fails on pods with the label poison, in the way that the label
// says.
func FailByLabel(p *corev1.Pod) (*corev1.Pod, error) {
	switch p.Labels["poison"] {
	case "error":
		return nil, ErrPoison
	case "panic":
		panic(ErrPoison)
	case "exit":
		runtime.Goexit()
	case "nil":
		return nil, nil //nolint:nilnil // as a careless transform does
	}
	return p, nil
}

// Rename is a transform that names a pod after its label, if it has one, and fails like [FailByLabel].
func Rename(p *corev1.Pod) (*corev1.Pod, error) {
	if p, err := FailByLabel(p); p == nil || err != nil {
		return p, err
	}
	if name := p.Labels["name"]; name != "" {
		p.Name = name
	}
	return p, nil
}

// Pods with these labels are renamed to x by [Rename], and fail in [FailByLabel].
var (
	AsX  = kit.Label("name", "x")
	Sick = kit.Label("poison", "error")
)

// Only returns the share of some values of a field.
func Only(f shard.Field, values ...string) shard.Set {
	var ranges []shard.Range
	for _, value := range values {
		ranges = append(ranges, shard.Range{From: shard.Hash(value), To: shard.Hash(value) + 1})
	}
	set, err := shard.Of(f, ranges...)
	if err != nil {
		panic(err)
	}
	return set
}
