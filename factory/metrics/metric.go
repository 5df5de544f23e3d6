package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
)

// sample is a number of a series. Unlike Prometheus' own constant metrics, the samples of an
// informer share their labels.
type sample struct {
	*series
	labels []*dto.LabelPair // sorted by name
	value  float64          // for a summary, the sum
	count  uint64           // for a summary only
}

var _ prometheus.Metric = (*sample)(nil)

// Desc returns the description of the series.
func (s *sample) Desc() *prometheus.Desc { return s.desc }

// Write fills in Prometheus' form of the number.
func (s *sample) Write(to *dto.Metric) error {
	to.Label = s.labels
	switch s.kind {
	case dto.MetricType_COUNTER:
		to.Counter = &dto.Counter{Value: &s.value}
	case dto.MetricType_SUMMARY:
		to.Summary = &dto.Summary{SampleCount: &s.count, SampleSum: &s.value}
	default:
		to.Gauge = &dto.Gauge{Value: &s.value}
	}
	return nil
}

// labelsOf returns the base labels of an informer, sorted by name as Prometheus requires.
func labelsOf(id identity) []*dto.LabelPair {
	return []*dto.LabelPair{
		pair("group", id.resource.Group), pair("resource", id.resource.Resource),
		pair("scope", id.scope), pair("version", id.resource.Version),
	}
}

func pair(name, value string) *dto.LabelPair {
	return &dto.LabelPair{Name: proto.String(name), Value: proto.String(value)}
}

// with returns a copy of labels with one more, sorted by name.
func with(labels []*dto.LabelPair, name, value string) []*dto.LabelPair {
	at, _ := slices.BinarySearchFunc(labels, name, func(l *dto.LabelPair, name string) int { return strings.Compare(l.GetName(), name) })
	more := make([]*dto.LabelPair, 0, len(labels)+1)
	more = append(more, labels[:at]...)
	more = append(more, pair(name, value))
	return append(more, labels[at:]...)
}
