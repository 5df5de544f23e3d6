package sim_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// answer traces the result of a request, and counts errors.
func (s *source) answer(ctx context.Context, request string, f fault, err error) {
	if ctx.Err() != nil {
		return // the informer has abandoned the request
	}
	how := "ok"
	if err != nil {
		how = err.Error()
		if !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err) { // a refused stream and a missing resource are not failures
			s.recordError(strings.HasPrefix(request, "stream"))
		}
	}
	if f.op != "" {
		how += fmt.Sprintf(" (%s %d)", f.op, f.n)
	}
	s.w.trace.add(fmt.Sprint("requests ", s.number), "%s: %s", request, how)
}

// recordCause records that the driver has given a reason for requests.
func (s *source) recordCause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.causes = append(s.causes, time.Now())
}

// recordPage records the objects of a page.
func (s *source) recordPage(list *corev1.PodList, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		s.listing = map[key]types.UID{}
	}
	for i := range list.Items {
		s.listing[keyOf(&list.Items[i])] = list.Items[i].UID
	}
}

// holds reports whether a list completed at this moment contains an object.
func (s *source) holds(p *pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	uid, ok := s.listed[keyOf(p)]
	return ok && s.listedAt.Equal(time.Now()) && (uid == p.UID || p.UID == "")
}

// forgetList discards the last list, because its objects are being deleted.
func (s *source) forgetList() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = nil
}

// List answers a list, or applies a fault.
func (s *source) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.w.look("request")
	f, inner, healed, _ := s.receiveRequest(false, false, o.Continue == "")
	list, err := s.list(ctx, o, f, inner, healed)
	more := ""
	if o.Continue != "" {
		more = ", the next page"
	}
	s.answer(ctx, fmt.Sprintf("list at %q%s", o.ResourceVersion, more), f, err)
	if err != nil {
		return nil, err
	}
	s.recordPage(list, o.Continue == "")
	if list.Continue == "" {
		s.recordFullState()
	}
	return list, nil
}

func (s *source) list(ctx context.Context, o metav1.ListOptions, f fault, inner reflector.Source, healed chan struct{}) (*corev1.PodList, error) {
	if err := s.applyFault(ctx, f, healed); err != nil {
		return nil, err
	}
	o.LabelSelector = s.selector
	listed, err := inner.List(ctx, o)
	if err != nil {
		return nil, err
	}
	list := listed.(*corev1.PodList)
	if f.op == noVersion && s.suspicious(o) {
		s.recordError(false)
		return &corev1.PodList{}, nil
	}
	for i := range list.Items {
		s.alter(&list.Items[i])
	}
	if s.w.blank {
		list.ResourceVersion = ""
	}
	if s.w.versionless && len(list.Items) == 0 {
		s.w.reach("answer", "{}")
		return &corev1.PodList{}, nil
	}
	return list, nil
}

// suspicious reports whether an empty list without a version must be an error, because the informer
// knows that the server has versions.
func (s *source) suspicious(o metav1.ListOptions) bool {
	return o.Continue != "" || o.ResourceVersion != "" && o.ResourceVersion != "0"
}

// alter gives an object the UID and version that the source shows, and applies the mutant.
func (s *source) alter(p *pod) {
	if uid := p.Labels["uid"]; uid != "" {
		p.UID = types.UID(p.Namespace + "-" + p.Name + "-" + uid)
	}
	switch {
	case s.w.versionless:
		p.ResourceVersion = ""
	case s.w.blank:
		p.ResourceVersion = "1"
	}
	if s.w.packed == partlyHot {
		p.Annotations[paddingName] = strings.Repeat(spell(p), paddingTimes)
	}
	if s.w.mutant.serve != nil {
		s.w.mutant.serve(p)
	}
	if transform := s.w.transformer(); !s.w.fails(p) {
		stored := p.DeepCopy()
		if transform != nil {
			stored, _ = transform(stored)
		}
		s.w.model.show(stored)
	}
	if s.w.mutant.swapsBases && markOf(p).serial%5 == 0 {
		p.Spec.NodeName = "another"
	}
}

// Watch opens a stream, or applies a fault.
func (s *source) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.w.look("request")
	f, inner, healed, counted := s.receiveRequest(true, o.SendInitialEvents != nil, true)
	err := s.applyFault(ctx, f, healed)
	var w watch.Interface
	if err == nil {
		o.LabelSelector = s.selector
		w, err = inner.Watch(ctx, o)
	}
	kind := "watch"
	if o.SendInitialEvents != nil {
		kind = "stream"
	}
	s.answer(ctx, fmt.Sprintf("%s at %q", kind, o.ResourceVersion), f, err)
	if err != nil {
		return nil, err
	}
	opened := newStream(ctx, s, w, f, o, counted)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = append(s.streams, opened)
	return opened, nil
}
